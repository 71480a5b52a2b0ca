package resolve

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Hit is a chart that a search has found.
type Hit struct {
	// Name is REPOSITORY/CHART.
	Name string
	Entry
	score int
}

// Search is what somebody looks for among charts.
type Search struct {
	// Words are looked for in names, descriptions and keywords, joined by spaces. They
	// are one regular expression when Regexp is set.
	Words  string
	Regexp bool
	// Version is a range; "" is every version, of prereleases those alone that Devel
	// admits.
	Version string
	Devel   bool
	// All gives every version and not the newest alone.
	All bool
}

// Find gives the charts of a repository's index that are looked for, as Helm 4.3.1
// finds them. Errors: the range or the expression can't be read. What is odd about the
// index is left out.
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
			continue // one chart does not hide the others
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

// constraint is the range of versions that count, as in Helm 4.3.1's search.
func (s Search) constraint() (*semver.Constraints, error) {
	switch {
	case s.Version != "":
		return semver.NewConstraint(s.Version)
	case s.Devel:
		return semver.NewConstraint(">0.0.0-0")
	}
	return semver.NewConstraint(">0.0.0")
}

// matcher says where in an entry the words are: the number of the part, or -1. The
// parts are one line with vertical tabs between them, as in Helm 4.3.1, to which the
// expression's ^ and $ belong.
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

// SortHits puts hits into Helm's order: where the words are, then names, then the
// highest version first.
func SortHits(hits []Hit) {
	slices.SortStableFunc(hits, func(a, b Hit) int {
		if c := cmp.Or(a.score-b.score, strings.Compare(a.Name, b.Name)); c != 0 {
			return c
		}
		if Descending([]string{a.Version, b.Version})[0] == 0 {
			return -1
		}
		return 1
	})
}
