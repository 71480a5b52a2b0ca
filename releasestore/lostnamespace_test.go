package releasestore

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// inTerminating is the API server's answer to a request that would create a Lease in a namespace that is being deleted.
func inTerminating() error {
	err := apierrors.NewForbidden(leaseResource(), LeaseName("web"), nil)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	return err
}

func inMissing() error {
	return apierrors.NewNotFound(corev1.Resource("namespaces"), "shop")
}

// A lock whose Lease has gone along with its namespace, as when an uninstall deletes that before the records in a
// database, is held until somebody takes it in a new namespace of the name; or until the Lease is missing in one,
// as it was created and deleted meanwhile.
func TestLockGoesWithItsNamespace(t *testing.T) {
	for name, ends := range map[string]func(t *testing.T, server *leaseServer){
		"taken": func(t *testing.T, server *leaseServer) {
			t.Helper()
			next, err := server.lock(t, "two", LockOptions{})
			must(t, err)
			t.Cleanup(func() { must(t, next.Release(context.WithoutCancel(t.Context()))) })
		},
		"missing": func(*testing.T, *leaseServer) {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newLeaseServer()
				held, err := server.lock(t, "one", LockOptions{})
				must(t, err)
				must(t, server.leases().Leases("shop").Delete(t.Context(), LeaseName("web"), metav1.DeleteOptions{}))
				for _, answer := range []error{inTerminating(), apierrors.NewServiceUnavailable("away"), inMissing()} {
					server.set(func(verb string) error {
						if verb == "create" {
							return answer
						}
						return nil
					}, false)
					time.Sleep(15 * time.Second)
					must(t, holds(held))
				}
				server.set(nil, false)
				ends(t, server)
				time.Sleep(interval(30) + time.Second)
				if held.Check() == nil {
					t.Error("the lock is not lost")
				}
				must(t, held.Release(t.Context()))
			})
		})
	}
}

// A lock that has expired is lost with its namespace: another run may have taken it and deleted the namespace.
func TestExpiredLockGoesWithItsNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newLeaseServer()
		held, err := server.lock(t, "one", LockOptions{})
		must(t, err)
		server.set(func(string) error { return errDown }, false)
		time.Sleep(25 * time.Second)
		server.set(nil, false)
		must(t, server.leases().Leases("shop").Delete(t.Context(), LeaseName("web"), metav1.DeleteOptions{}))
		server.set(func(verb string) error {
			if verb == "create" {
				return inMissing()
			}
			return nil
		}, false)
		time.Sleep(5 * time.Second)
		if held.Check() == nil {
			t.Error("a lock that has expired is kept without its Lease")
		}
		must(t, held.Release(t.Context()))
	})
}
