package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Wanted is which version of a chart somebody wants.
type Wanted struct {
	// Version is an exact version, a range in the words of Masterminds/semver, or ""
	// or "latest" for the newest.
	Version string
	// Devel admits prereleases where Version is "" or "latest".
	Devel bool
	// Range reads an exact version as a range, too: what Chart.yaml says of a
	// dependency. Else it is that version and no other build of it.
	Range bool
}

// Strict says whether text is a whole semantic version, such as 1.2.3-rc.1+b5.
func Strict(text string) bool {
	_, err := semver.StrictNewVersion(text)
	return err == nil
}

// Exact says whether one version is wanted and no range.
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

// Choose gives the index of the wanted version. A version that is written the same
// comes first, then the highest in the range; among builds of one version the last
// by its metadata. Versions that can't be read never match a range. Errors:
// *NoVersionError; the range can't be read.
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

// Newer is the newest of the versions that are there, when it is above the one that is
// used; else "". Prereleases count with devel only. Versions that can't be read are none.
func Newer(used string, there []string, devel bool) string {
	i, err := Choose(there, Wanted{Devel: devel})
	if err != nil {
		return "" // there is none
	}
	v, errV := semver.NewVersion(used)
	w, errW := semver.NewVersion(there[i])
	if errV != nil || errW != nil || !w.GreaterThan(v) {
		return ""
	}
	return there[i]
}

// above orders versions, and builds of one version by their metadata.
func above(a, b *semver.Version) bool {
	if c := a.Compare(b); c != 0 {
		return c > 0
	}
	return a.Metadata() > b.Metadata()
}

// Descending sorts versions, the highest first; those that can't be read come last,
// in their order. It gives the indices.
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

// NoVersionError says that there is no version such as was wanted.
type NoVersionError struct {
	Wanted Wanted
	// Nearest are up to three versions that there are.
	Nearest []string
	// Prereleases says that those are all there is, and that they were not asked for.
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

// near are the versions of the same release first, then the highest.
func near(have []string, version string) []int {
	order := Descending(have)
	if wanted, err := semver.NewVersion(version); err == nil {
		slices.SortStableFunc(order, func(i, j int) int { return distance(have[i], wanted) - distance(have[j], wanted) })
	}
	return order[:min(nearest, len(order))]
}

// distance is 0 for another build, 1 for another prerelease, 2 for another patch, 3
// for another minor version, and 4 beyond that.
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
