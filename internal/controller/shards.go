package controller

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// shardLabel is a label of the leases of replicas that share HelmReleases. Its value is
// the name of the lease that keeps helm-controller away.
const shardLabel = "kubectl-release.dev/shares"

// shards divide HelmReleases among replicas. Each replica holds a lease of its own and
// takes those HelmReleases for which it ranks first (rendezvous hashing by UID), so a
// replica that joins or leaves moves only its own part. Two that disagree for a moment do
// no harm: each release has a lock.
type shards struct {
	leases coordinationclient.LeaseInterface
	// id is the name of this replica's lease, main that of helm-controller's lease, which
	// one of the replicas holds for all.
	id, main string
	times    LeaderOptions
	now      func() time.Time
	log      logr.Logger
	// changed is called when the replicas have changed. gained reports whether a
	// HelmRelease has become this replica's.
	changed func(ctx context.Context, gained func(types.UID) bool)

	// seen is when each lease was last seen to be renewed, by this replica's clock.
	seen    map[string]sighting
	renewed time.Time
	lease   *coordinationv1.Lease

	mu      sync.Mutex
	members []string
}

type sighting struct {
	version string
	at      time.Time
}

// newShards returns shards that use the given leases; replicas with the same selector
// share the HelmReleases.
func newShards(leases coordinationclient.LeaseInterface, o Options, now func() time.Time, log logr.Logger) *shards {
	return &shards{
		leases: leases, id: "kubectl-release-controller." + string(uuid.NewUUID()), main: leaseName(o.WatchSelector), times: o.Leader,
		now: now, log: log, seen: map[string]sighting{},
	}
}

// Start keeps the lease until ctx ends, and then deletes it.
func (s *shards) Start(ctx context.Context) error {
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
		defer cancel()
		_ = s.leases.Delete(ctx, s.id, metav1.DeleteOptions{})
	}()
	for {
		s.turn(ctx)
		if retry.Pause(ctx, s.times.RetryPeriod) != nil {
			return nil
		}
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: every replica does this.
func (s *shards) NeedLeaderElection() bool { return false }

// turn renews the lease, looks at those of the others, and takes on what has become this
// replica's.
func (s *shards) turn(ctx context.Context) {
	if err := s.renew(ctx); err != nil {
		s.log.Error(err, "this replica's lease could not be renewed", "lease", s.id)
	} else {
		s.renewed = s.now()
	}
	alive, err := s.alive(ctx)
	if err != nil {
		s.log.Error(err, "leases can't be listed")
	}
	s.mu.Lock()
	was := s.members
	if err == nil || s.now().Sub(s.renewed) > s.times.RenewDeadline {
		s.members = alive
	}
	is := s.members
	s.mu.Unlock()
	if slices.Equal(was, is) {
		return
	}
	s.log.Info("HelmReleases are shared", "replicas", len(is), "lease", s.id)
	s.changed(ctx, func(uid types.UID) bool { return s.first(is, uid) && !s.first(was, uid) })
}

func (s *shards) renew(ctx context.Context) (err error) {
	now, seconds := metav1.NewMicroTime(s.now()), int32(s.times.LeaseDuration/time.Second)
	if s.lease == nil {
		s.lease, err = s.leases.Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: s.id, Labels: map[string]string{shardLabel: s.main}},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: &s.id, LeaseDurationSeconds: &seconds, RenewTime: &now},
		}, metav1.CreateOptions{})
	} else {
		s.lease.Spec.RenewTime = &now
		s.lease, err = s.leases.Update(ctx, s.lease, metav1.UpdateOptions{})
	}
	if err == nil {
		return nil
	}
	// Somebody else has written or deleted it, or an answer was lost.
	have, again := s.leases.Get(ctx, s.id, metav1.GetOptions{})
	if s.lease = have; again != nil {
		s.lease = nil
	}
	return err
}

// alive returns the replicas that renew their leases, sorted; none while this one does
// not, or while none of ours holds helm-controller's lease. Leases of dead replicas are
// deleted.
func (s *shards) alive(ctx context.Context) ([]string, error) {
	if s.now().Sub(s.renewed) > s.times.RenewDeadline {
		return nil, nil
	}
	all, err := s.leases.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var out []string
	kept := false
	present := map[string]bool{}
	for _, lease := range all.Items {
		member := lease.Labels[shardLabel] == s.main
		if !member && lease.Name != s.main {
			continue
		}
		present[lease.Name] = true
		last, known := s.seen[lease.Name]
		if !known || last.version != lease.ResourceVersion {
			last = sighting{lease.ResourceVersion, s.now()}
			s.seen[lease.Name] = last
		}
		silent := s.now().Sub(last.at)
		switch {
		case member && silent > 2*s.times.LeaseDuration:
			_ = s.leases.Delete(ctx, lease.Name, *metav1.NewRVDeletionPrecondition(lease.ResourceVersion))
		case member && silent <= s.times.LeaseDuration:
			out = append(out, lease.Name)
		case !member:
			holder := lease.Spec.HolderIdentity
			kept = holder != nil && strings.HasPrefix(*holder, ours) && silent <= s.times.RenewDeadline
		}
	}
	maps.DeleteFunc(s.seen, func(name string, _ sighting) bool { return !present[name] })
	if !kept {
		return nil, nil
	}
	slices.Sort(out)
	return out, nil
}

// owns reports whether the HelmRelease is this replica's.
func (s *shards) owns(uid types.UID) bool {
	s.mu.Lock()
	members := s.members
	s.mu.Unlock()
	return s.first(members, uid)
}

// first reports whether this replica ranks first among the members for the UID.
func (s *shards) first(members []string, uid types.UID) bool {
	var best uint64
	winner := ""
	for _, member := range members {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %s", member, uid))
		if weight := binary.BigEndian.Uint64(sum[:]); winner == "" || weight > best {
			winner, best = member, weight
		}
	}
	return winner == s.id
}
