package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// rivalWatch looks for a helm-controller that works on HelmReleases of this process: when this
// starts, and from then on, since a shard of helm-controller has a lease of its own, which it can
// take beside ours.
type rivalWatch struct {
	leases    coordinationclient.LeaseInterface
	namespace string
	selector  string
	// pause is how long it takes until a helm-controller that starts later is noticed.
	pause time.Duration
	now   func() time.Time
}

// check returns a *HeldError if helm-controller is active on any of the same HelmReleases, and else
// the error of the API server, if there was one.
func (w *rivalWatch) check(ctx context.Context) error {
	found, err := rivals(ctx, w.leases, w.selector)
	for _, lease := range found {
		if foreign(&lease, w.now()) {
			return &HeldError{w.namespace, lease.Name, *lease.Spec.HolderIdentity}
		}
	}
	if err != nil {
		return fmt.Errorf("read helm-controller's leases in namespace %s: %w", w.namespace, err)
	}
	return nil
}

// Start looks for rivals until ctx ends. It returns a *HeldError if one has started, which ends the
// process: started again, it waits for helm-controller to end. An API server that does not answer
// ends nothing here.
func (w *rivalWatch) Start(ctx context.Context) error {
	for retry.Pause(ctx, w.pause) == nil {
		if held := (*HeldError)(nil); errors.As(w.check(ctx), &held) {
			return held
		}
	}
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: replicas that share the HelmReleases
// all look.
func (w *rivalWatch) NeedLeaderElection() bool { return false }
