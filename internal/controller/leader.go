package controller

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// ours begins the identity of this program in the lease, by which a replica tells
// another one from helm-controller.
const ours = "kubectl-release-controller_"

// leaseName is the lease of helm-controller, so that only one of the two works. A shard
// has one of its own, by its selector (fluxcd/pkg runtime/leaderelection.GenerateID).
func leaseName(selector string) string {
	name := fieldManager + "-leader-election"
	if selector == "" {
		return name
	}
	sum := sha256.Sum256([]byte(selector))
	return name + "-" + hex.EncodeToString(sum[:])[:8]
}

// HeldError says that helm-controller is at work.
type HeldError struct{ Namespace, Lease, Holder string }

func (e *HeldError) Error() string {
	return fmt.Sprintf("helm-controller is running: lease %s/%s is held by %s. Only one of the two may run: scale its Deployment to 0 and start again",
		e.Namespace, e.Lease, e.Holder)
}

// lock is the lease of this process. A holder that is no replica of ours and has
// renewed it lately is a *HeldError.
func lock(ctx context.Context, config *rest.Config, o Options, now func() time.Time) (resourcelock.Interface, error) {
	config = rest.CopyConfig(config)
	config.Timeout = o.Leader.RenewDeadline / 2
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	name := leaseName(o.WatchSelector)
	lease, err := client.CoordinationV1().Leases(o.Namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return nil, fmt.Errorf("read lease %s/%s: %w", o.Namespace, name, err)
	default:
		s := lease.Spec
		if s.HolderIdentity == nil || *s.HolderIdentity == "" || strings.HasPrefix(*s.HolderIdentity, ours) || s.RenewTime == nil || s.LeaseDurationSeconds == nil {
			break
		}
		if end := s.RenewTime.Add(time.Duration(*s.LeaseDurationSeconds) * time.Second); now().Before(end) {
			return nil, &HeldError{o.Namespace, name, *s.HolderIdentity}
		}
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return resourcelock.New(resourcelock.LeasesResourceLock, o.Namespace, name, client.CoreV1(), client.CoordinationV1(),
		resourcelock.ResourceLockConfig{Identity: ours + host + "_" + string(uuid.NewUUID())})
}
