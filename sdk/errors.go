package sdk

import (
	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// ErrBlocked says that the plan has blocking problems, see [Plan.Problems]. Nothing
// was written.
var ErrBlocked = apply.ErrBlocked

// ErrNoWayBack says that a failed atomic upgrade was not rolled back, because no earlier revision
// has succeeded.
var ErrNoWayBack = engine.ErrNoWayBack

type (
	// StaleError says that a plan no longer holds; its Differences say why. Nothing
	// was written: plan again.
	StaleError = engine.StaleError
	// LockedError says that another run holds the release's lock: Identity is whose run
	// it is, Since when it took the lock, and Renewed when it last renewed it.
	LockedError = releasestore.LockedError
	// NotReadyError says that an object did not become ready: its Object and Why say
	// which and why not; Failed is true when it no longer could have.
	NotReadyError = apply.NotReadyError
	// RolledBackError says that an atomic run failed because of Cause, and that the release
	// is back at revision To (0: uninstalled), unless Rollback is an error as well. Back is what
	// the rollback has done; use its Made, Planned, Written and Recorded. Its Revision is of a
	// package that programs can't import; [Client.Get] reads the same record.
	RolledBackError = engine.RolledBackError
	// NoReleaseError says that there is no such release.
	NoReleaseError = engine.NoReleaseError
	// ExistsError says that [Install] can't use a name because there is a release of that name, or
	// its kept history: Status tells which. An [Upgrade] with Install takes either.
	ExistsError = engine.ExistsError
	// NoRevisionError says that a release has no such revision.
	NoRevisionError = engine.NoRevisionError
)
