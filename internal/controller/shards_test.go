package controller

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

// replicas are three replicas with one clock and one fake API server.
type replicas struct {
	now    time.Time
	leases coordinationclient.LeaseInterface
	all    []*shards
	gained []int
}

func newReplicas(t *testing.T) *replicas {
	r := &replicas{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), leases: fake.NewClientset().CoordinationV1().Leases("flux-system"), gained: make([]int, 3)}
	o := Options{Leader: LeaderOptions{LeaseDuration: 35 * time.Second, RenewDeadline: 30 * time.Second, RetryPeriod: 5 * time.Second}}
	for i := range 3 {
		s := newShards(r.leases, o, func() time.Time { return r.now }, logr.Discard())
		s.changed = func(_ context.Context, gained func(types.UID) bool) { r.gained[i] += count(gained) }
		r.all = append(r.all, s)
	}
	r.hold(t, ours+"a", "1")
	return r
}

// hold writes helm-controller's lease. The fake server assigns no resource versions.
func (r *replicas) hold(t *testing.T, holder, version string) {
	t.Helper()
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "helm-controller-leader-election", ResourceVersion: version},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder},
	}
	_, err := r.leases.Update(t.Context(), lease, metav1.UpdateOptions{})
	if err != nil {
		_, err = r.leases.Create(t.Context(), lease, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

const fleet = 3000

// count returns for how many HelmReleases is returns true.
func count(is func(types.UID) bool) int {
	n := 0
	for i := range fleet {
		if is(types.UID(fmt.Sprint(i))) {
			n++
		}
	}
	return n
}

// owners returns the least and the most replicas that own a HelmRelease.
func owners(some ...*shards) (least, most int) {
	least = len(some)
	for i := range fleet {
		n := 0
		for _, s := range some {
			if s.owns(types.UID(fmt.Sprint(i))) {
				n++
			}
		}
		least, most = min(least, n), max(most, n)
	}
	return least, most
}

// Each HelmRelease belongs to one replica, in shares of about the same size; the share of a replica
// that leaves goes to the others, and nothing else moves.
func TestReplicasShare(t *testing.T) {
	r := newReplicas(t)
	for range 2 {
		for _, s := range r.all {
			s.turn(t.Context())
		}
	}
	if least, most := owners(r.all...); least != 1 || most != 1 {
		t.Fatalf("a HelmRelease has %d to %d owners", least, most)
	}
	parts := []int{}
	for _, s := range r.all {
		parts = append(parts, count(s.owns))
		if n := count(s.owns); n < fleet/4 || n > fleet/2 {
			t.Errorf("a part has %d of %d", n, fleet)
		}
	}
	before := append([]int{}, r.gained...)
	if err := r.leases.Delete(t.Context(), r.all[2].id, metav1.DeleteOptions{}); err != nil { // as when it ends
		t.Fatal(err)
	}
	r.all[0].turn(t.Context())
	r.all[1].turn(t.Context())
	if least, most := owners(r.all[:2]...); least != 1 || most != 1 {
		t.Errorf("a HelmRelease has %d to %d owners", least, most)
	}
	if moved := r.gained[0] + r.gained[1] - before[0] - before[1]; moved != parts[2] {
		t.Errorf("%d HelmReleases have moved, want the %d of the one that left", moved, parts[2])
	}
}

// A replica that does not renew its lease loses its share, and one that can't reach the
// API server gives it up before that.
func TestReplicasThatFallSilent(t *testing.T) {
	r := newReplicas(t)
	for range 2 {
		for _, s := range r.all {
			s.turn(t.Context())
		}
	}
	for i := range 8 { // 40 seconds
		r.now = r.now.Add(5 * time.Second)
		r.hold(t, ours+"a", fmt.Sprint(i+2))
		for n, s := range r.all[:2] {
			// The fake server assigns no versions, and the others recognise a renewal by the version.
			lease, err := r.leases.Get(t.Context(), s.id, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			lease.ResourceVersion = fmt.Sprintf("%d%d", n, i)
			if s.lease, err = r.leases.Update(t.Context(), lease, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		for _, s := range r.all[:2] {
			s.turn(t.Context())
		}
	}
	if n := len(r.all[0].members); n != 2 {
		t.Errorf("%d replicas share, want 2", n)
	}
	silent := r.all[2]
	silent.leases = nowhere{r.leases}
	silent.turn(t.Context())
	if n := count(silent.owns); n != 0 {
		t.Errorf("a replica without a lease has %d HelmReleases", n)
	}
}

// As long as helm-controller's lease is not ours, no replica works.
func TestReplicasBesideHelmController(t *testing.T) {
	r := newReplicas(t)
	r.hold(t, "helm-controller-5f_6c", "2")
	r.all[0].turn(t.Context())
	if n := count(r.all[0].owns); n != 0 {
		t.Errorf("%d HelmReleases are worked on beside helm-controller", n)
	}
	r.hold(t, ours+"a", "3")
	r.all[0].turn(t.Context())
	if n := count(r.all[0].owns); n != fleet {
		t.Errorf("%d HelmReleases are worked on, want all", n)
	}
}

// nowhere is an API server that does not answer.
type nowhere struct {
	coordinationclient.LeaseInterface
}

func (nowhere) Update(context.Context, *coordinationv1.Lease, metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	return nil, context.DeadlineExceeded
}

func (nowhere) List(context.Context, metav1.ListOptions) (*coordinationv1.LeaseList, error) {
	return nil, context.DeadlineExceeded
}
