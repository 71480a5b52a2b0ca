package releasestore

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// inContainer is the text of every run by that user in containers with the same host name.
const inContainer = "somebody on ci, process 1"

// Two runs with the same user, host and process are two holders; people are
// shown the text. Before identities were random, the second one went on immediately.
func TestRunsOfOneTextAreTwoHolders(t *testing.T) {
	for name, first := range map[string]Identity{
		"both are random":           NewIdentity(inContainer),
		"the other one is the text": inContainer, // as earlier versions wrote it
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newLeaseServer()
				held, err := server.lock(t, first, LockOptions{})
				must(t, err)
				var locked *LockedError
				if _, err := server.lock(t, NewIdentity(inContainer), LockOptions{Wait: time.Minute}); !errors.As(err, &locked) {
					t.Fatalf("the second run: %v", err)
				}
				if got := locked.Identity.Text(); got != inContainer {
					t.Errorf("people are told that %q holds the lock", got)
				}
				must(t, holds(held))
				must(t, held.Release(t.Context()))
			})
		})
	}
}

// A Lease that another run with the same text has taken is not renewed on its behalf.
func TestLockTakenByARunOfTheSameText(t *testing.T) {
	for name, thief := range map[string]Identity{"random": NewIdentity(inContainer), "the text": inContainer} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newLeaseServer()
				held, err := server.lock(t, NewIdentity(inContainer), LockOptions{})
				must(t, err)
				leases := server.leases().Leases("shop")
				lease, err := leases.Get(t.Context(), LeaseName("web"), metav1.GetOptions{})
				must(t, err)
				lease.Spec.HolderIdentity = (*string)(&thief)
				_, err = leases.Update(t.Context(), lease, metav1.UpdateOptions{})
				must(t, err)
				time.Sleep(interval(30) + time.Second)
				if holds(held) == nil {
					t.Error("the lock is still held")
				}
				must(t, held.Release(t.Context()))
				if _, isHeld, err := NewLocker(server.leases(), SystemClock{}).Inspect(t.Context(), testKey()); !isHeld || err != nil {
					t.Errorf("the other run's lock is freed: %v", err)
				}
			})
		})
	}
}

func TestIdentityText(t *testing.T) {
	for identity, want := range map[Identity]string{
		NewIdentity("me on my_host, process 7"):                      "me on my_host, process 7",
		NewIdentity("two\nlines"):                                    "two\nlines",
		"me on my_host, process 7":                                   "me on my_host, process 7",
		"host_5f0c7d3e-2b9a-4c55-8a10-6f1d2e3c4b5a":                  "host_5f0c7d3e-2b9a-4c55-8a10-6f1d2e3c4b5a",
		"_0123456789abcdef0123456789abcdef":                          "_0123456789abcdef0123456789abcdef",
		"me_0123456789abcdef0123456789abcdef_0123456789abcdef012345": "me_0123456789abcdef0123456789abcdef_0123456789abcdef012345",
		"": "",
	} {
		if got := identity.Text(); got != want {
			t.Errorf("the text of %q is %q", identity, got)
		}
	}
	if one, other := NewIdentity("me"), NewIdentity("me"); one == other {
		t.Error("two identities are equal")
	}
}

// Freeing the lock of a named holder takes it from that holder only, not from whoever has it
// by then.
func TestFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newLeaseServer()
		locker := NewLocker(server.leases(), SystemClock{})
		living, err := server.lock(t, "living", LockOptions{})
		must(t, err)
		var locked *LockedError
		if err := locker.Free(t.Context(), testKey(), "gone"); !errors.As(err, &locked) || locked.Identity != "living" {
			t.Errorf("the lock has another holder by now: %v", err)
		}
		must(t, holds(living))
		must(t, locker.Free(t.Context(), testKey(), "living"))
		must(t, locker.Free(t.Context(), testKey(), "living"))
		next, err := server.lock(t, "next", LockOptions{})
		must(t, err)
		time.Sleep(interval(30) + time.Second)
		if holds(living) == nil {
			t.Error("the holder does not notice")
		}
		must(t, living.Release(t.Context()))
		must(t, holds(next))
		must(t, next.Release(t.Context()))
	})
}

// Whoever is kept waiting sees ages, not times from the clocks of three time zones.
func TestTheHolderIsToldByAges(t *testing.T) {
	now := time.Date(2026, 11, 21, 22, 3, 25, 0, time.UTC)
	h := Holder{Identity: "ann on ci-1, process 7", Since: now.Add(-23 * time.Second), Renewed: now.Add(-2 * time.Second), Read: now}
	if got, want := h.Text(), "ann on ci-1, process 7, for 23s (renewed 2s ago)"; got != want {
		t.Errorf("it is held by %q, want %q", got, want)
	}
}
