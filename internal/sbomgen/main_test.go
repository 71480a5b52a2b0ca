package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A document says what SPDX requires, about the program and each module in it: what it is,
// which version, and what replaces a module that is replaced.
func TestDescribeNamesEveryModule(t *testing.T) {
	d := describe("program", &debug.BuildInfo{
		GoVersion: "go1.26.8", Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: "arm64"}, {Key: "vcs.time", Value: "2026-11-22T10:00:00Z"}, {Key: "vcs.revision", Value: "c0ffee"}},
		Deps: []*debug.Module{{Path: "example.com/a", Version: "v1.2.3", Sum: "h1:x"}, {Path: "example.com/b", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/c", Version: "v2.0.0"}}},
	}, "ab")
	var got []string
	for _, p := range d.Packages {
		got = append(got, strings.Join([]string{p.SPDXID, p.Name, p.VersionInfo, p.Comment}, " "))
	}
	want := []string{
		"SPDXRef-program program c0ffee linux/arm64 go1.26.8", "SPDXRef-module-0 std 1.26.8 ",
		"SPDXRef-module-1 example.com/a v1.2.3 go.sum: h1:x", "SPDXRef-module-2 example.com/c v2.0.0 ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if d.CreationInfo.Created != "2026-11-22T10:00:00Z" || len(d.Relationships) != len(d.Packages) || d.Packages[2].ExternalRefs[0].Locator != "pkg:golang/example.com/a@v1.2.3" {
		t.Errorf("%+v", d)
	}
}

// The same program gives the same document; what is not a Go program is refused.
func TestWriteReadsAProgram(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var texts [2]string
	for i, name := range []string{"a", "b"} {
		if err := write(program, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !json.Valid(data) {
			t.Fatal(err)
		}
		texts[i] = string(data)
	}
	if texts[0] != texts[1] || !strings.Contains(texts[0], `"name": "std"`) {
		t.Errorf("%s\n%s", texts[0], texts[1])
	}
	if err := write(filepath.Join(dir, "a"), filepath.Join(dir, "c")); err == nil {
		t.Error("a text has an SBOM")
	}
}
