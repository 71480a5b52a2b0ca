package resolve

import (
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// InCharts is an entry of charts/, which need not be a valid chart.
type InCharts struct {
	// File is the name of the archive, or of the folder.
	File string
	// Archive reports whether it is an archive.
	Archive bool
	// Name and Version are from its Chart.yaml; both are "" if it is not a chart.
	Name, Version string
	// Digest is the archive's digest.
	Digest string
}

// Status describes what charts/ contains for a dependency, in Helm's words (4.3.1,
// pkg/action/dependency.go): ok, unpacked, missing, "wrong version", "invalid version", corrupt,
// misnamed, or "too many matches" if several entries match the range. One is ours: "wrong digest",
// for an archive that is not the one in the lock, which may be nil.
func Status(d *chart.Dependency, have []InCharts, lock *Lock) string {
	if _, err := semver.NewConstraint(d.Version); err != nil {
		return "invalid version"
	}
	broken, wrong := "", false
	var good []InCharts
	for _, h := range have {
		switch {
		case h.Name == d.Name && Satisfies(d, h.Version) == nil:
			good = append(good, h)
		case h.Name == d.Name:
			wrong = true
		case !h.Archive || !versioned(h.File, d.Name):
		case h.Name == "":
			broken = "corrupt"
		default:
			broken = "misnamed"
		}
	}
	switch {
	case len(good) > 1:
		return "too many matches"
	case len(good) == 1 && !good[0].Archive:
		return "unpacked"
	case len(good) == 1 && !promisedBy(lock, good[0]):
		return "wrong digest"
	case len(good) == 1:
		return "ok"
	case wrong:
		return "wrong version"
	case broken != "":
		return broken
	}
	return "missing"
}

// versioned reports whether a file is named NAME-VERSION.tgz.
func versioned(file, name string) bool {
	version, ok := strings.CutPrefix(strings.TrimSuffix(file, ".tgz"), name+"-")
	return ok && Strict(version)
}

// promisedBy reports whether an archive is the one in the lock, or the lock has no digest for it.
func promisedBy(lock *Lock, have InCharts) bool {
	if lock == nil {
		return true
	}
	promised := false
	for _, l := range lock.Dependencies {
		if l.Name == have.Name && l.Digest != "" && strings.TrimPrefix(l.Version, "v") == strings.TrimPrefix(have.Version, "v") {
			if l.Digest == have.Digest {
				return true
			}
			promised = true
		}
	}
	return !promised
}
