package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Wanted is the wanted version of a chart.
type Wanted struct {
	// Version is an exact version, a range in the syntax of Masterminds/semver, or "" or "latest"
	// for the newest.
	Version string
	// Devel also allows prereleases if Version is "" or "latest".
	Devel bool
	// Range treats even an exact version as a range, as for a dependency in Chart.yaml. Without it,
	// no other build of that version matches.
	Range bool
	// LastCreated, with Range and an index, chooses among builds of one version the one that was
	// created last, instead of the one with the highest metadata.
	LastCreated bool
}

// Strict reports whether text is a complete semantic version, such as 1.2.3-rc.1+b5.
func Strict(text string) bool {
	_, err := semver.StrictNewVersion(text)
	return err == nil
}

// Exact reports whether a single version is wanted, not a range.
func (w Wanted) Exact() bool { return Strict(strings.TrimPrefix(w.Version, "v")) && !w.Range }

func (w Wanted) newest() bool { return w.Version == "" || w.Version == "latest" }

func (w Wanted) String() string {
	switch {
	case w.newest() && w.Devel:
		return "any version"
	case w.newest():
		return "any stable version"
	}
	return "version " + w.Version
}

// Choose returns the index in have of the wanted version: one with the same text, otherwise the
// highest in the range. Builds of one version are ordered by their metadata. Invalid versions match
// no range. Errors: *NoVersionError; an invalid range.
func Choose(have []string, w Wanted) (int, error) {
	if i := slices.Index(have, w.Version); i >= 0 && w.Version != "" {
		return i, nil
	}
	if w.Exact() {
		plain := strings.TrimPrefix(w.Version, "v")
		if i := slices.IndexFunc(have, func(v string) bool { return strings.TrimPrefix(v, "v") == plain }); i >= 0 {
			return i, nil
		}
		return 0, missing(have, w)
	}
	wanted := w.Version
	switch {
	case w.newest() && w.Devel:
		wanted = ">0.0.0-0"
	case w.newest():
		wanted = "*"
	}
	constraint, err := semver.NewConstraint(wanted)
	if err != nil {
		return 0, fmt.Errorf("%q is neither a version nor a range of versions: %w", w.Version, err)
	}
	best, at := (*semver.Version)(nil), -1
	for i, text := range have {
		v, err := semver.NewVersion(text)
		if err == nil && constraint.Check(v) && (best == nil || above(v, best)) {
			best, at = v, i
		}
	}
	if at < 0 {
		return 0, missing(have, w)
	}
	return at, nil
}

// Newer returns the newest available version if it is higher than the one used, otherwise "".
// Prereleases count only with devel. Invalid versions do not count.
func Newer(used string, there []string, devel bool) string {
	i, err := Choose(there, Wanted{Devel: devel})
	if err != nil {
		return "" // no version is available
	}
	v, errV := semver.NewVersion(used)
	w, errW := semver.NewVersion(there[i])
	if errV != nil || errW != nil || !w.GreaterThan(v) {
		return ""
	}
	return there[i]
}

// above reports whether a is higher than b; builds of one version are compared by their metadata.
func above(a, b *semver.Version) bool {
	if c := a.Compare(b); c != 0 {
		return c > 0
	}
	return a.Metadata() > b.Metadata()
}

// sameVersion reports whether two versions are the same or builds of the same.
func sameVersion(a, b string) bool {
	v, errV := semver.NewVersion(a)
	w, errW := semver.NewVersion(b)
	return errV == nil && errW == nil && v.Equal(w)
}

// Descending returns the indices of versions, highest first; invalid ones come last, in their
// original order.
func Descending(have []string) []int {
	parsed, order := make([]*semver.Version, len(have)), make([]int, len(have))
	for i, text := range have {
		order[i] = i
		if v, err := semver.NewVersion(text); err == nil {
			parsed[i] = v
		}
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := parsed[i], parsed[j]
		switch {
		case a == nil && b == nil:
			return 0
		case a == nil:
			return 1
		case b == nil:
			return -1
		case above(a, b):
			return -1
		case above(b, a):
			return 1
		}
		return 0
	})
	return order
}

// NoVersionError says that no available version matches the wanted one.
type NoVersionError struct {
	Wanted Wanted
	// Nearest holds the available versions closest to the wanted one, up to three.
	Nearest []string
	// Prereleases reports whether only prereleases are available, which were not asked for.
	Prereleases bool
}

func (e *NoVersionError) Error() string {
	switch {
	case e.Prereleases:
		return fmt.Sprintf("there are only prereleases (%s); --devel admits them", strings.Join(e.Nearest, ", "))
	case len(e.Nearest) == 0:
		return "there is no " + strings.TrimPrefix(e.Wanted.String(), "any ")
	}
	return fmt.Sprintf("there is no %s; there is %s", strings.TrimPrefix(e.Wanted.String(), "any "), strings.Join(e.Nearest, ", "))
}

const nearest = 3

func missing(have []string, w Wanted) *NoVersionError {
	e := &NoVersionError{Wanted: w, Prereleases: w.newest() && !w.Devel && len(have) > 0}
	for _, i := range near(have, w.Version) {
		e.Nearest = append(e.Nearest, have[i])
	}
	return e
}

// near returns the indices of the nearest versions, by distance and then highest first.
func near(have []string, version string) []int {
	order := Descending(have)
	if wanted, err := semver.NewVersion(version); err == nil {
		slices.SortStableFunc(order, func(i, j int) int { return distance(have[i], wanted) - distance(have[j], wanted) })
	}
	return order[:min(nearest, len(order))]
}

// distance returns 0 for the same version or another build of it, 1 for another prerelease, 2 for
// another patch version, 3 for another minor version, and 4 otherwise.
func distance(text string, wanted *semver.Version) int {
	v, err := semver.NewVersion(text)
	switch {
	case err != nil || v.Major() != wanted.Major():
		return 4
	case v.Minor() != wanted.Minor():
		return 3
	case v.Patch() != wanted.Patch():
		return 2
	case v.Prerelease() != wanted.Prerelease():
		return 1
	}
	return 0
}
