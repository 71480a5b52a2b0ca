package resolve

import (
	"fmt"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// InSync checks that a lock belongs to the dependencies that Declared returned: its digest must be
// Helm's or, for v1 charts, Helm 2's. A trailing slash in a repository's URL makes no difference,
// although it changes the digest. Errors: *OutOfSyncError.
func InSync(m *chart.Metadata, declared []*chart.Dependency, lock *Lock) error {
	if why := differences(declared, lock); len(why) > 0 {
		return &OutOfSyncError{Why: why}
	}
	for _, candidate := range [][]*chart.Dependency{declared, asLocked(declared, lock)} {
		digest, err := LockDigest(candidate, lock.Dependencies)
		if err != nil || digest == lock.Digest {
			return err
		}
	}
	if m.APIVersion == chart.APIVersionV1 {
		if digest, err := oldLockDigest(m.Dependencies); err != nil || digest == lock.Digest {
			return err
		}
	}
	return &OutOfSyncError{Why: []string{"its digest does not match its content and Chart.yaml: one of them was edited by hand"}}
}

// asLocked returns the dependencies with the lock's URLs where they differ only by trailing slashes.
func asLocked(declared []*chart.Dependency, lock *Lock) []*chart.Dependency {
	out := make([]*chart.Dependency, len(declared))
	for i, d := range declared {
		out[i] = new(*d)
		if SameURL(d.Repository, lock.Dependencies[i].Repository) {
			out[i].Repository = lock.Dependencies[i].Repository
		}
	}
	return out
}

// differences describes the visible differences between a lock and the dependencies.
func differences(declared []*chart.Dependency, lock *Lock) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for i, d := range declared {
		if i >= len(lock.Dependencies) {
			say("%s is not in it", d.Name)
			continue
		}
		l := lock.Dependencies[i]
		switch {
		case l.Name != d.Name:
			say("%s is in place of %s", l.Name, d.Name)
		case !SameURL(l.Repository, d.Repository):
			say("%s is from %q, not from %q", d.Name, l.Repository, d.Repository)
		case d.Repository == "" && l.Version == d.Version:
			// For a chart in charts/, Helm writes the range itself into the lock.
		default:
			if err := Satisfies(d, l.Version); err != nil {
				say("%s: %v", d.Name, err)
			}
		}
	}
	for _, l := range lock.Dependencies[min(len(declared), len(lock.Dependencies)):] {
		say("%s is no longer a dependency", l.Name)
	}
	return out
}

// OutOfSyncError says that a lock does not belong to a chart's dependencies.
type OutOfSyncError struct{ Why []string }

func (e *OutOfSyncError) Error() string {
	return "the lock is out of sync with Chart.yaml: " + strings.Join(e.Why, "; ")
}
