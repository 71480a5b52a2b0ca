package templating

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	helms "github.com/gobwas/glob"

	"github.com/kubectl-release/kubectl-release/internal/budget"
)

// globAccidents are patterns that gobwas/glob v0.2.3 gets wrong: it finds nothing next to empty terms,
// takes "***" to need a character, and a null byte for an end; in braces "?" and "[!a]" match the end, too, and
// next to wildcards it does not try all terms. Terms within terms or without an alternative make it forget parts,
// or panic.
var (
	globAccidents = regexp.MustCompile(`\x00|\*\*\*|[{,][,}]|^$|[{,][^{}]*(\?|\[!)[^{}]*}|[*?\]]\{|\}[*?[{]`)
	plainTerms    = regexp.MustCompile(`\{[^{}]*,[^{}]*\}`)
)

// isAccident reports whether gobwas gets a pattern wrong in a way that is not ours: those, and terms that begin
// or end others, which it reduces to nothing.
func isAccident(pattern string) bool {
	for _, terms := range plainTerms.FindAllString(pattern, -1) {
		list := strings.Split(strings.Trim(terms, "{}"), ",")
		for i, a := range list {
			for k, b := range list {
				if i != k && (strings.HasPrefix(a, b) || strings.HasSuffix(a, b)) {
					return true
				}
			}
		}
	}
	return globAccidents.MatchString(pattern) || strings.ContainsAny(plainTerms.ReplaceAllString(pattern, ""), "{}")
}

// FuzzGlob compares patterns with Helm 4.3.1's library, but for its accidents.
func FuzzGlob(f *testing.F) {
	for _, pattern := range []string{
		"config/**/app.yaml", "config/**", "**/app.yaml", "config/*.yaml", "config/a?p.yaml", "{config/**/app.yaml,x}",
		"{config,x}/{a,app}.yaml", "config/[a-c]pp.yaml", "config/[!b]pp.yaml", "config/[^b]", "[]", "[a", "[b-a]", `config/\*`, "a/b****b",
		"a,b", "*a*a*a", "", `\`, `*a*\`, "[]a]", `[\]]`, "[a-]", "[!a-c]x", "\xff", "{ab,c?d}e", "config/{**/app,x}.yaml",
		"files/{*.yml,b.yml}", "{files/*,nope}.yaml", "{*/a,x}.yaml", "{a/*.yml,a/b?.yml}", "a/{*,??}.yml", "a/{??,?}", "?{*,b}[a-c]", "{*,ab,cd}{a,b}",
	} {
		for _, path := range []string{"config/app.yaml", "a/b", "files/b.yml", "files/bc.yml", "nope.yaml", "x.yaml", "a/bc.yml", "a/bcd.yml", "abc"} {
			f.Add(pattern, path)
		}
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		if isAccident(pattern) || len(pattern) > 20 || len(path) > 20 || path == "" || !utf8.ValidString(path) {
			return
		}
		theirs, theirErr := helms.Compile(pattern, '/')
		ours, err := parseGlob(pattern)
		if (err != nil) != (theirErr != nil) {
			t.Fatalf("%q: %v, theirs %v", pattern, err, theirErr)
		}
		if err != nil {
			return
		}
		m := globbing{path: path, budget: &budget.Budget{}}
		if got, err := m.match(ours); err != nil || got != theirs.Match(path) {
			t.Errorf("%q, %q: %v (error %v), theirs %v", pattern, path, got, err, theirs.Match(path))
		}
	})
}

// A path may be long, and one match is counted while it lasts.
func TestGlobOfALongPath(t *testing.T) {
	for _, pattern := range []string{strings.Repeat("{*,", 8000), "**{a**a,b}", strings.Repeat("a**", 8000)} {
		g, err := parseGlob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		used := budget.Budget{Steps: budget.MaxSteps * 9 / 10}
		m := globbing{path: strings.Repeat("a", 1<<20), budget: &used}
		if _, err := m.match(g); err == nil || used.Steps > budget.MaxSteps*11/10 {
			t.Errorf("%.10s: error %v after %d steps", pattern, err, used.Steps)
		}
	}
}
