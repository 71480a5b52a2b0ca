package pack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

func web(names ...string) *chart.Chart {
	c := &chart.Chart{Metadata: &chart.Metadata{Name: "web", Version: "1.0.0"}}
	for i, name := range names {
		c.Raw = append(c.Raw, &chart.File{Name: name, Data: []byte("# " + name + "\nversion: 1.0.0\n"), ModTime: time.Unix(int64(i), 0)})
	}
	return c
}

// unpacked returns an archive's names and contents, and checks modes, owners and times.
func unpacked(t *testing.T, data []byte) (names []string, content map[string]string) {
	t.Helper()
	zr, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	content = map[string]string{}
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return names, content
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		if h.Mode != 0o644 || h.Uid != 0 || h.Gid != 0 || h.Uname != "" || !h.ModTime.Equal(time.Unix(7, 0)) {
			t.Errorf("%s: %+v", h.Name, h)
		}
		names = append(names, h.Name)
		content[h.Name] = string(text)
	}
}

// Neither the order in which files are found nor their times change the archive.
func TestArchiveIsTheSame(t *testing.T) {
	o := Options{Time: time.Unix(7, 0)}
	one, err := Archive(web("values.yaml", "Chart.yaml", ".helmignore", "charts/a/Chart.yaml", "charts/_x/y", "charts/.z", "charts/b-1.0.0.tgz"), o)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Archive(web("charts/b-1.0.0.tgz", "charts/a/Chart.yaml", ".helmignore", "Chart.yaml", "values.yaml"), o)
	if err != nil || !bytes.Equal(one, other) {
		t.Errorf("they differ, %v", err)
	}
	names, content := unpacked(t, one)
	if want := []string{"web/Chart.yaml", "web/.helmignore", "web/charts/a/Chart.yaml", "web/charts/b-1.0.0.tgz", "web/values.yaml"}; !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
	if content["web/Chart.yaml"] != "# Chart.yaml\nversion: 1.0.0\n" {
		t.Errorf("%q", content["web/Chart.yaml"])
	}
}

func TestArchiveOfAnotherVersion(t *testing.T) {
	data, err := Archive(web("Chart.yaml", "charts/a/Chart.yaml"), Options{Time: time.Unix(7, 0), Version: "2.0.0", AppVersion: "3"})
	if err != nil {
		t.Fatal(err)
	}
	_, content := unpacked(t, data)
	if content["web/Chart.yaml"] != "appVersion: \"3\"\nversion: 2.0.0\n" || !strings.Contains(content["web/charts/a/Chart.yaml"], "version: 1.0.0") {
		t.Errorf("%q", content)
	}
}

func TestArchiveNeedsItsDependencies(t *testing.T) {
	c := web("Chart.yaml")
	c.Metadata.Dependencies = []*chart.Dependency{{Name: "a"}, {Name: "b"}}
	c.AddDependency(&chart.Chart{Metadata: &chart.Metadata{Name: "b"}})
	if _, err := Archive(c, Options{}); err == nil || err.Error() != "chart web: in Chart.yaml, but not in charts/: a" {
		t.Error(err)
	}
}

// A schema that is no JSON can't be packed, as in Helm: whoever fetches the chart could not use it.
func TestArchiveNeedsValidSchemas(t *testing.T) {
	c := web("Chart.yaml")
	sub := &chart.Chart{Metadata: &chart.Metadata{Name: "part"}}
	c.AddDependency(sub)
	for text, valid := range map[string]bool{"": false, " ": false, "{": false, "{}": true, "null": true} {
		sub.Schema = []byte(text)
		if _, err := Archive(c, Options{}); (err == nil) != valid {
			t.Errorf("%q: %v", text, err)
		}
	}
}
