package chartload

import (
	"archive/tar"
	"bytes"
	"os"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// Seeds are checked in under testdata/fuzz.

// FuzzArchive reads arbitrary bytes as an archive: the result is a chart or an error, never a panic.
func FuzzArchive(f *testing.F) {
	requireSeeds(f, "testdata/fuzz/FuzzArchive")
	f.Fuzz(func(t *testing.T, data []byte) {
		c, _, err := Archive(bytes.NewReader(data), "x.tgz")
		if (c == nil) == (err == nil) {
			t.Errorf("chart %v, error %v", c, err)
		}
	})
}

// FuzzEntry reads an entry's header with any name, type and link: what is
// accepted stays within the chart's folder.
func FuzzEntry(f *testing.F) {
	requireSeeds(f, "testdata/fuzz/FuzzEntry")
	f.Fuzz(func(t *testing.T, name, link string, kind byte) {
		l := loader{budget: newBudget()}
		header := &tar.Header{Name: name, Linkname: link, Typeflag: kind}
		file, err := l.entry(tar.NewReader(bytes.NewReader(nil)), header, "x.tgz")
		if err == nil && file != nil && (file.Name == "" || file.Name[0] == '/' || file.Name[0] == '.' && len(file.Name) > 1 && file.Name[1] == '.') {
			t.Errorf("%q became %q", name, file.Name)
		}
	})
}

// FuzzMetadata reads any text as Chart.yaml: the result is a valid chart or an error.
func FuzzMetadata(f *testing.F) {
	requireSeeds(f, "testdata/fuzz/FuzzMetadata")
	f.Fuzz(func(t *testing.T, text string) {
		l := loader{budget: newBudget()}
		c, err := l.assemble([]*chart.File{{Name: "Chart.yaml", Data: []byte(text)}}, "x.tgz", 0)
		if err == nil && (c.Name() == "" || c.Metadata.Version == "") {
			t.Errorf("a chart without name or version: %+v", c.Metadata)
		}
	})
}

func requireSeeds(f *testing.F, dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		f.Fatalf("no seeds in %s: %v", dir, err)
	}
}
