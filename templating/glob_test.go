package templating

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	helms "github.com/gobwas/glob"
)

// globAccidents are patterns that gobwas/glob v0.2.3 gets wrong: it finds nothing next to empty terms,
// takes "***" to need a character, and a null byte for an end. Terms within terms or without an
// alternative make it forget parts, or panic.
var (
	globAccidents = regexp.MustCompile(`\x00|\*\*\*|[{,][,}]|^$`)
	plainTerms    = regexp.MustCompile(`\{[^{}]*,[^{}]*\}`)
)

// FuzzGlob compares patterns with Helm 4.3.1's library, but for its accidents.
func FuzzGlob(f *testing.F) {
	for _, pattern := range []string{
		"config/**/app.yaml", "config/**", "**/app.yaml", "config/*.yaml", "config/a?p.yaml", "{config/**/app.yaml,x}",
		"{config,x}/{a,app}.yaml", "config/[a-c]pp.yaml", "config/[!b]pp.yaml", "config/[^b]", "[]", "[a", "[b-a]", `config/\*`, "a/b****b",
		"a,b", "*a*a*a", "", `\`, `*a*\`, "[]a]", `[\]]`, "[a-]", "[!a-c]x", "\xff", "{ab,c?d}e", "config/{**/app,x}.yaml",
	} {
		f.Add(pattern, "config/app.yaml")
		f.Add(pattern, "a/b")
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		accident := globAccidents.MatchString(pattern) || strings.ContainsAny(plainTerms.ReplaceAllString(pattern, ""), "{}")
		if accident || len(pattern) > 20 || len(path) > 20 || path == "" || !utf8.ValidString(path) {
			return
		}
		theirs, theirErr := helms.Compile(pattern, '/')
		ours, err := parseGlob(pattern)
		if (err != nil) != (theirErr != nil) {
			t.Fatalf("%q: %v, theirs %v", pattern, err, theirErr)
		}
		if m := (globbing{path: path}); err == nil && m.match(ours) != theirs.Match(path) {
			t.Errorf("%q, %q: %v, theirs %v", pattern, path, m.match(ours), theirs.Match(path))
		}
	})
}
