package resolve

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Hit is a chart found by a search.
type Hit struct {
	// Name is REPOSITORY/CHART.
	Name string
	Entry
	score int
}

// Search describes a search for charts.
type Search struct {
	// Words, joined by spaces, are searched for as one text in names, descriptions and keywords.
	// With Regexp they are one regular expression.
	Words  string
	Regexp bool
	// Version is a range; "" means any version, including prereleases only with Devel.
	Version string
	Devel   bool
	// All returns every version, not only the newest.
	All bool
}

// Find returns the matching charts in a repository's index, as Helm 4.3.1 does
// (pkg/cmd/search/search.go). Invalid entries are skipped. Errors: an invalid range or expression.
func (s Search) Find(repository string, x *Index) ([]Hit, error) {
	constraint, err := s.constraint()
	if err != nil {
		return nil, err
	}
	match, err := s.matcher()
	if err != nil {
		return nil, err
	}
	var out []Hit
	for _, name := range x.Names {
		entries, _, err := x.Versions(name)
		if err != nil {
			continue // an invalid chart must not hide the others
		}
		for _, e := range entries {
			v, err := semver.NewVersion(e.Version)
			if err != nil || !constraint.Check(v) {
				continue
			}
			if score := match(repository+"/"+name, e); score >= 0 {
				out = append(out, Hit{Name: repository + "/" + name, Entry: e, score: score})
			}
			if !s.All {
				break
			}
		}
	}
	return out, nil
}

// constraint returns the range of versions that count (Helm 4.3.1, pkg/cmd/search_repo.go,
// setupSearchedVersion).
func (s Search) constraint() (*semver.Constraints, error) {
	switch {
	case s.Version != "":
		return semver.NewConstraint(s.Version)
	case s.Devel:
		return semver.NewConstraint(">0.0.0-0")
	}
	return semver.NewConstraint(">0.0.0")
}

// matcher returns a function that returns the number of the part of an entry in which the words
// first occur, or -1. The parts are joined by vertical tabs, as in Helm 4.3.1
// (pkg/cmd/search/search.go, sep), so an expression's ^ and $ match at the ends of the whole line.
func (s Search) matcher() (func(name string, e Entry) int, error) {
	words := strings.ToLower(s.Words)
	find := func(line string) int { return strings.Index(strings.ToLower(line), words) }
	if s.Regexp {
		expression, err := regexp.Compile(s.Words)
		if err != nil {
			return nil, err
		}
		find = func(line string) int {
			if at := expression.FindStringIndex(line); at != nil {
				return at[0]
			}
			return -1
		}
	}
	return func(name string, e Entry) int {
		if s.Words == "" {
			return 0
		}
		line := strings.Join([]string{e.Name, name, e.Description, strings.Join(e.Keywords, " ")}, "\v")
		at := find(line)
		if at < 0 {
			return -1
		}
		return strings.Count(line[:min(at, len(line))], "\v")
	}, nil
}

// SortHits sorts hits in Helm's order: by where the words occur, then by name, then by descending
// version.
func SortHits(hits []Hit) {
	slices.SortStableFunc(hits, func(a, b Hit) int {
		if c := cmp.Or(a.score-b.score, strings.Compare(a.Name, b.Name)); c != 0 {
			return c
		}
		switch {
		case a.Version == b.Version: // an index may list a version twice
			return 0
		case Descending([]string{a.Version, b.Version})[0] == 0:
			return -1
		}
		return 1
	})
}
