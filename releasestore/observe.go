package releasestore

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/release"
)

// observed is a version of a Lease and when it was first seen.
type observed struct {
	uid     types.UID
	version string
	since   time.Time
}

// unchanged returns how long a Lease has had its present version, as far as this Locker has seen: 0
// when it is first seen. The time counts from when the response arrived, not from when the request
// was sent: a renewal may have been written in between, and its holder counts from then.
//
// The times in the Lease are ignored: they are by its holder's clock, which may differ from ours by
// any amount. A Lease is abandoned when it has not changed for its full duration, as in client-go's
// leader election (tools/leaderelection, tryAcquireOrRenew). Our wall clock is ignored as well,
// since it can be set. If our monotonic clock stands still while this machine is suspended, we only
// wait longer.
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
