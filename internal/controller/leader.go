package controller

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// ours is the prefix of this program's identity in the lease, by which a replica
// distinguishes other replicas from helm-controller.
const ours = "kubectl-release-controller_"

// leaseName returns the name of helm-controller's lease, which keeps the two from being
// active at the same time. A shard has a lease of its own, named after its selector
// (fluxcd/pkg runtime/leaderelection.GenerateID).
func leaseName(selector string) string {
	name := flux.ControllerName + "-leader-election"
	if selector == "" {
		return name
	}
	sum := sha256.Sum256([]byte(selector))
	return name + "-" + hex.EncodeToString(sum[:])[:8]
}

// HeldError reports that helm-controller is running: it holds a lease on HelmReleases that
// this process would reconcile.
type HeldError struct{ Namespace, Lease, Holder string }

func (e *HeldError) Error() string {
	return fmt.Sprintf("helm-controller is running: lease %s/%s is held by %s. Only one of the two may run: scale its Deployment to 0 and start again",
		e.Namespace, e.Lease, e.Holder)
}

// lock returns the lease of this process, and a watch of helm-controller's leases, which has found
// none so far. It returns a *HeldError if helm-controller is active on any of the same HelmReleases.
func lock(ctx context.Context, config *rest.Config, o Options, log logr.Logger, now func() time.Time) (resourcelock.Interface, *rivalWatch, error) {
	config = rest.CopyConfig(config)
	config.Timeout = o.Leader.RenewDeadline / 2
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	seen := &rivalWatch{
		leases: client.CoordinationV1().Leases(o.Namespace), namespace: o.Namespace, selector: o.WatchSelector,
		pause: o.Leader.LeaseDuration, now: now,
	}
	switch err := seen.check(ctx); {
	case apierrors.IsForbidden(err):
		log.Info("can't tell whether a shard of helm-controller is running", "error", err.Error())
	case err != nil:
		return nil, nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, nil, err
	}
	lease, err := resourcelock.New(resourcelock.LeasesResourceLock, o.Namespace, leaseName(o.WatchSelector), client.CoreV1(), client.CoordinationV1(),
		resourcelock.ResourceLockConfig{Identity: ours + host + "_" + string(uuid.NewUUID())})
	return lease, seen, err
}

// rivals returns the leases under which helm-controller reconciles HelmReleases that this
// process would reconcile. Without a selector, these are its main lease and those of all its
// shards; with one, the main lease and that of the same selector. Other shards are no rivals:
// they can be replaced one by one. On error, it also returns the leases that could be read.
func rivals(ctx context.Context, leases coordinationclient.LeaseInterface, selector string) (out []coordinationv1.Lease, _ error) {
	main := leaseName("")
	for _, name := range slices.Compact([]string{main, leaseName(selector)}) {
		lease, err := leases.Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return out, err
		default:
			out = append(out, *lease)
		}
	}
	if selector != "" {
		return out, nil
	}
	all, err := leases.List(ctx, metav1.ListOptions{})
	if err != nil {
		return out, err
	}
	for _, lease := range all.Items {
		if strings.HasPrefix(lease.Name, main+"-") {
			out = append(out, lease)
		}
	}
	return out, nil
}

// foreign reports whether the lease is held by a process that is not one of our replicas, and
// has not expired.
func foreign(lease *coordinationv1.Lease, now time.Time) bool {
	s := lease.Spec
	if s.HolderIdentity == nil || *s.HolderIdentity == "" || strings.HasPrefix(*s.HolderIdentity, ours) || s.RenewTime == nil || s.LeaseDurationSeconds == nil {
		return false
	}
	return now.Before(s.RenewTime.Add(time.Duration(*s.LeaseDurationSeconds) * time.Second))
}
