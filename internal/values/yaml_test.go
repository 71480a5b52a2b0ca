package values

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The results below were checked against Helm 4.3.1's reader of values.
func TestParse(t *testing.T) {
	type table = map[string]any
	for _, tc := range []struct {
		why, text string
		want      table
	}{
		{"nothing", "", table{}},
		{"a null document", "null\n", table{}},
		{"YAML 1.1 words are booleans, as keys too", "n: yes\ny: Off\n", table{"false": true, "true": false}},
		{
			"numbers are floats", "a: 1\nb: 012\nc: 0x1F\nd: 1_000\ne: 1e3\nf: 0b11\n",
			table{"a": 1.0, "b": 10.0, "c": 31.0, "d": 1000.0, "e": 1000.0, "f": 3.0},
		},
		{"octal of YAML 1.2", "a: 0o17\n", table{"a": 15.0}},
		{"no octal", "a: 08\nb: '012'\n", table{"a": 8.0, "b": "012"}},
		{"number keys are text", "1: a\n1.5: b\n.inf: c\n", table{"1": "a", "1.5": "b", ".inf": "c"}},
		{"dates are text", "a: 2001-01-01\n", table{"a": "2001-01-01"}},
		{
			"anchors and merge keys", "a: &x {k: 1, l: 2}\nb: {<<: *x, k: 3}\n",
			table{"a": table{"k": 1.0, "l": 2.0}, "b": table{"k": 3.0, "l": 2.0}},
		},
		{"documents merge in order", "a: {b: 1, c: 1}\n---\na: {b: 2}\n--- # end\n", table{"a": table{"b": 2.0, "c": 1.0}}},
		{"the last of duplicate keys counts", "a: 1\na: 2\n", table{"a": 2.0}},
		{"CRLF", "a: |\r\n  x\r\n  y\r\nb: 1\r\n", table{"a": "x\ny\n", "b": 1.0}},
		{"a kept line feed at the end", "a: |+\n  x\n\n", table{"a": "x\n\n"}},
		{"no line feed at the end", "a: |+\n  x", table{"a": "x\n"}},
		{"binary that is not UTF-8", "a: !!binary /w==\n", table{"a": "\uFFFD"}},
		{"a large number loses digits", "a: 9007199254740993\n", table{"a": 9007199254740992.0}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got, _, err := Parse([]byte(tc.text), "values.yaml")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Duplicate keys and lost digits are reported, with their place.
func TestParseWarnings(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\nb: 1\na: 2\n":             `v.yaml: line 3: key "a" is given twice; the last one counts`,
		"a: {b: [9007199254740993]}\n":   "v.yaml: a.b[]: 9007199254740993 is too large to be exact as a number and becomes 9007199254740992; quote it",
		"a: &x {k: 1}\nb: {<<: *x}\n":    "",
		"a: &x {k: 1}\nb: {<<: *x,k: 2}": "",
		"a: 9007199254740992\n":          "",
	} {
		_, found, err := Parse([]byte(text), "v.yaml")
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, w := range found {
			got += w.String()
		}
		if got != want {
			t.Errorf("%q: warnings %q, want %q", text, got, want)
		}
	}
}

// Hostile and broken documents end in an error that names the file.
func TestParseRefused(t *testing.T) {
	var aliases strings.Builder
	aliases.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&aliases, "a%d: &a%d [%s]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9))
	}
	long := `a: &a "` + strings.Repeat("x", 1<<20) + "\"\nb: [" + strings.Repeat("*a,", 100) + "]\n"
	for _, tc := range []struct{ why, text, want string }{
		{"a list", "- a\n", "not a table"},
		{"text", "hello\n", "not a table"},
		{"no YAML", "a: b: c\n", "mapping values"},
		{"infinity", "a: {b: .inf}\n", "a.b: +Inf is not a number in JSON"},
		{"a null key", "~: 1\n", "a key is null"},
		{"a table as a key", "a: {{hunter2: 1}}\n", "parse values.yaml: yaml: invalid map key: (not shown)"},
		{"an alias without an anchor", "a: *hunter2\n", "parse values.yaml: yaml: unknown anchor (not shown) referenced"},
		{"an alias in itself", "a: &hunter2 [*hunter2]\n", "parse values.yaml: yaml: anchor (not shown) value contains itself"},
		{"a tag that does not fit", "a: !!int hunter`2\n", "parse values.yaml: yaml: cannot decode !!str (not shown) as a !!int"},
		{"a comma that is missing", "a: [1\nb: 2\n", "line 1: did not find expected ',' or ']'"},
		{"text after a separator", "a: 1\n--- b\n", "separator"},
		{"aliases that multiply", aliases.String(), "aliasing"},
		{"aliases of one long text", long, "grows beyond"},
		{"nesting", "a: " + strings.Repeat("[", 2000) + strings.Repeat("]", 2000), "deeper than 1000"},
		{"endless nesting", strings.Repeat("{", 1<<20), "more than 300000 entries"},
		{"density", "a: [" + strings.Repeat("a,", 400_000) + "]", "more than 300000 entries"},
		{"size", "a: " + strings.Repeat("x", 5<<20), "exceeds the limit of 4194304"},
		{"documents", strings.Repeat("---\na: b\n", 2000), "more than 1000 documents"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			_, _, err := Parse([]byte(tc.text), "values.yaml")
			if err == nil || !strings.HasPrefix(err.Error(), "parse values.yaml: ") {
				t.Fatalf("error %v", err)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}
