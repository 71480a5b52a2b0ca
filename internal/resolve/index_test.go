package resolve

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

const index = `apiVersion: v1
annotations: {a: b}
entries:
  # the first
  alpha:
  - apiVersion: v2
    name: alpha
    version: 1.0.0
    description: |
      text, and

      # no comment
    urls:
    - alpha-1.0.0.tgz
    digest: abc
    created: "2026-01-01T00:00:00Z"
    newkey: 1
  - name: alpha
    version: 1.1.0
    urls: [alpha-1.1.0.tgz]
  "beta-2":
    - null
    - {name: beta-2}
    - {name: beta-2, version: 1.0.0, icon: "x: y"}
    - {name: gamma, version: 1.0.0}
    - {name: beta-2, version: 1.0.0}
  y:
  - {name: "y", version: 1.0.0}
  none: []
generated: "2026-01-01T00:00:00Z"
publicKeys:
- x
serverInfo:
  contextPath: /x
`

const asJSON = `{"apiVersion":"v1","unknown":{},"entries":{
  "alpha":[{"name":"alpha","version":"1.0.0","apiVersion":"v2","urls":["alpha-1.0.0.tgz"]},{"name":"alpha","version":"1.1.0"}],
  "beta-2":[null,{"name":"beta-2"},{"name":"beta-2","version":"1.0.0"},{"name":"gamma","version":"1.0.0"},{"name":"beta-2","version":"1.0.0"}],
  "y":[{"name":"y","version":"1.0.0"}],"none":null},"generated":"2026-01-01T00:00:00Z"}`

// flow is YAML that is neither JSON nor in the form that Helm writes.
const flow = `%YAML 1.1
---
apiVersion: v1
generated: "2026-01-01T00:00:00Z"
entries: {alpha: [{name: alpha, version: 1.0.0}, {name: alpha, version: 1.1.0}], beta-2: [null, {name: beta-2}, {name: beta-2, version: 1.0.0}, {name: gamma, version: 1.0.0}, {name: beta-2, version: 1.0.0}], "y": [{name: "y", version: 1.0.0}], none: []}
`

// An index is lenient entry by entry, in every form that it comes in.
func TestReadIndex(t *testing.T) {
	for form, text := range map[string]string{"YAML": index, "YAML with a mark": "\xEF\xBB\xBF---\n" + index, "CRLF": strings.ReplaceAll(index, "\n", "\r\n"), "JSON": asJSON, "flow": flow} {
		t.Run(form, func(t *testing.T) {
			x, err := ReadIndex(strings.NewReader(text), All)
			if err != nil {
				t.Fatal(err)
			}
			names := strings.Join(x.Names, " ")
			if form == "flow" { // read whole, and so in the order of the names
				names = strings.Replace(names, "none y", "y none", 1)
			}
			if names != "alpha beta-2 y none" || x.Generated != "2026-01-01T00:00:00Z" {
				t.Errorf("%v of %q", names, x.Generated)
			}
			alpha, warnings, err := x.Versions("alpha")
			if err != nil || len(warnings) != 0 || len(alpha) != 2 || alpha[0].Version != "1.1.0" || alpha[0].APIVersion != "v1" {
				t.Errorf("%+v, %v, %v", alpha, warnings, err)
			}
			beta, warnings, err := x.Versions("beta-2")
			if err != nil || len(beta) != 1 {
				t.Errorf("%+v, %v", beta, err)
			}
			var told []string
			for _, w := range warnings {
				told = append(told, w.String())
			}
			want := []string{
				"index.yaml/beta-2[0]: it is left out: it is null",
				"index.yaml/beta-2[1]: it is left out: version is required",
				`index.yaml/beta-2[3]: it is left out: it is called "gamma"`,
				"index.yaml/beta-2[4]: version 1.0.0 is listed twice; the first counts",
			}
			if diff := cmp.Diff(want, told); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if y, _, err := x.Versions("y"); err != nil || len(y) != 1 {
				t.Errorf("%+v, %v", y, err)
			}
			if none, _, err := x.Versions("none"); err != nil || len(none) != 0 {
				t.Errorf("%+v, %v", none, err)
			}
		})
	}
	x, err := ReadIndex(strings.NewReader(index), Only("alpha"))
	if err != nil {
		t.Fatal(err)
	}
	e, _, err := x.Find("alpha", Wanted{Version: "1.0.0"})
	if err != nil || e.Digest != "abc" || e.Description != "text, and\n\n# no comment\n" || e.URLs[0] != "alpha-1.0.0.tgz" {
		t.Errorf("%+v, %v", e, err)
	}
	if _, _, err := x.Find("delta", Wanted{}); err == nil || err.Error() != `there is no chart "delta"` {
		t.Error(err)
	}
}

// What Helm's security advisories describe, and what is not an index, ends in an error.
func TestReadIndexRefuses(t *testing.T) {
	deep := strings.Repeat("[", 20_000)
	bomb := "apiVersion: v1\nx: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for i := range 9 {
		bomb += fmt.Sprintf("x%d: &a%d [*a%s]\n", i, i, strings.Repeat(fmt.Sprintf(",*a%s", []string{"", fmt.Sprint(i - 1)}[min(i, 1)]), 9))
	}
	for why, tc := range map[string]struct{ text, want string }{
		"empty":                    {"", "it is empty"},
		"no version":               {"entries: {}\n", "it has no apiVersion"},
		"a page":                   {"<html>\n<body>no</body>\n</html>\n", "expected an object"},
		"a list":                   {"[]\n", "expected an object"},
		"a text":                   {"\"x\"\n", "expected an object"},
		"a chart twice":            {"apiVersion: v1\nentries:\n  a:\n  - {}\n  a:\n  - {}\n", `chart "a" is listed twice`},
		"a chart twice in JSON":    {`{"apiVersion":"v1","entries":{"a":[],"a":[]}}`, `chart "a" is listed twice`},
		"entries twice":            {"apiVersion: v1\nentries:\n  a: []\nentries:\n  b: []\n", `key "entries" occurs twice`},
		"JSON that ends early":     {`{"apiVersion":"v1","entries":{"a":[`, "unexpected EOF"},
		"deep":                     {"apiVersion: v1\nentries:\n  a:\n  - x: " + deep + "\n", ""},
		"deep JSON":                {`{"apiVersion":"v1","entries":{"a":` + deep, "exceeded max depth"},
		"aliases that multiply":    {bomb, "excessive aliasing"},
		"a line without end":       {"apiVersion: v1\nentries:\n  a: " + strings.Repeat("x", maxLine+1), "a line is larger than 4 MiB"},
		"too much beside":          {"apiVersion: v1\n" + strings.Repeat("x:\n  "+strings.Repeat("y", 1000)+"\n", 1), ""},
		"a text in place of lists": {"apiVersion: v1\nentries:\n  a: b\n", ""},
	} {
		t.Run(why, func(t *testing.T) {
			x, err := ReadIndex(strings.NewReader(tc.text), All)
			if err == nil && tc.want == "" {
				if _, _, err := x.Versions("a"); err == nil && x.Has("a") {
					t.Error("no error where its versions are read")
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
	for _, text := range []string{"apiVersion: v1\nentries: null\n", "apiVersion: v1\nentries: {}\n", `{"apiVersion":"v1","entries":null}`, "apiVersion: v1\n"} {
		if x, err := ReadIndex(strings.NewReader(text), All); err != nil || len(x.Names) != 0 {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// bigIndex returns an index with that many entries of a kilobyte each.
func bigIndex(entries int) string { return string(sourcetest.Index(sourcetest.Many(entries)...)) }

// Looking up one chart does not keep the others in memory.
func TestReadIndexIsFrugal(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := bigIndex(15_000)
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	x, err := ReadIndex(f, Only("chart-0500"))
	runtime.ReadMemStats(&after)
	if err != nil || len(x.Names) != 1000 {
		t.Fatalf("%d charts, %v", len(x.Names), err)
	}
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 4<<20 {
		t.Errorf("%d bytes allocated for one chart of %d bytes", allocated, len(text))
	}
	if e, _, err := x.Find("chart-0500", Wanted{}); err != nil || e.Version != "1.14.0" {
		t.Errorf("%+v, %v", e, err)
	}
}

func BenchmarkReadIndex(b *testing.B) {
	text := bigIndex(15_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := ReadIndex(strings.NewReader(text), Only("chart-0500")); err != nil {
			b.Fatal(err)
		}
	}
}
