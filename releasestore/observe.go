package releasestore

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/release"
)

// observed is one state of a Lease and when it was first seen.
type observed struct {
	uid     types.UID
	version string
	since   time.Time
}

// unchanged is how long a Lease has been as it is now, as far as this Locker has
// seen: 0 at the first look. It is to be asked when the answer that brought the
// Lease has come, not with a time from before the request: a renewal may have been
// sent and written in between, and its holder counts from then.
//
// The times in the Lease are not looked at, because they are of its holder's clock,
// and nobody knows how far that is from ours. A Lease is abandoned when it has been
// unchanged for its full duration, as in client-go's leader election
// (tools/leaderelection, tryAcquireOrRenew). Our wall clock does not count either,
// because it can be set. That the monotonic clock may stand still while this machine
// is suspended only makes us wait longer.
func (l *Locker) unchanged(lease *coordinationv1.Lease) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := release.Key{Namespace: lease.Namespace, Name: lease.Name}
	last, seen := l.observed[key]
	if seen && last.uid == lease.UID && last.version == lease.ResourceVersion {
		return l.clock.Since(last.since)
	}
	l.observed[key] = observed{lease.UID, lease.ResourceVersion, l.clock.Now()}
	return 0
}
