package values

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Numbers that templates do not get back as they were written are reported, with their
// place. How they render was checked against Helm 4.3.1.
func TestPrecision(t *testing.T) {
	for _, tc := range []struct {
		why  string
		file string
		from Sources
		want string
	}{
		{"a version that loses its zero", "image:\n  tag: 1.10 # quote me\n", Sources{}, "v.yaml: line 2: image.tag: 1.10 is a number and renders as 1.1; quote it to keep it as it is"},
		{"a float with an exponent", "a: [1234567.5]\n", Sources{}, "v.yaml: line 1: a[0]: 1234567.5 is a number and renders as 1.2345675e+06; quote it to keep it as it is"},
		{"more digits than a float has", "a: 0.12345678901234567890\n", Sources{}, "v.yaml: line 1: a: 0.12345678901234567890 is a number and renders as 0.12345678901234568; quote it to keep it as it is"},
		{"a whole number beyond 64 bits", "a: 123456789012345678901\n", Sources{}, "v.yaml: line 1: a: 123456789012345678901 is a number and renders as 1.2345678901234568e+20; quote it to keep it as it is"},
		{"a whole number beyond 2^53", "a.b: 9007199254740993\n", Sources{}, "v.yaml: a\\.b: 9007199254740993 is too large to be exact as a number and becomes 9007199254740992; quote it"},
		{"lines count on in later documents", "a: 1\n---\na: 2.0\n", Sources{}, "v.yaml: line 3: a: 2.0 is a number and renders as 2; quote it to keep it as it is"},
		{"the number of a secret is not shown", "dbPassword: 12345678901234567890\n", Sources{}, "v.yaml: dbPassword: (not shown) is too large to be exact as a number and becomes (not shown); quote it"},
		{"what renders as it is written", "a: 1.5\nb: \"1.10\"\nc: -0.25\nd: 123456\ne: !!str 1.10\nf: 1.10.2\n", Sources{}, ""},
		{"forms that nobody expects back", "a: 1e3\nb: 0x1F\nc: 012\nd: 1_000\n", Sources{}, ""},
		{"text of a block", "a: |\n  x: 1.10\n", Sources{}, ""},
		{
			"--set keeps it until the record is read back", "",
			Sources{Set: []string{"a.b=9007199254740993"}},
			"--set: a.b: 9007199254740993 is too large to be exact as a number: once it is read back from the release's record it becomes 9007199254740992; use --set-string",
		},
		{"--set knows no floats, --set-string no numbers", "", Sources{Set: []string{"a=1.10,b=9007199254740992"}, String: []string{"c=9007199254740993"}}, ""},
		{
			"--set-json, both forms", "",
			Sources{JSON: []string{`{"a":{"b":1.10}}`, "c=[9007199254740993]"}},
			"--set-json: a.b: 1.10 is a number and renders as 1.1; quote it to keep it as it is\n" +
				"--set-json: c[0]: 9007199254740993 is too large to be exact as a number and becomes 9007199254740992; quote it",
		},
	} {
		t.Run(tc.why, func(t *testing.T) {
			tc.from.Files = []string{"v.yaml"}
			_, found, err := tc.from.Merge(files{"v.yaml": tc.file}.read)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, w := range found {
				got = append(got, w.String())
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
