package setrun

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// failure returns what is said of a release that fails because of text, with its trees in these folders.
func failure(head, base, text string, values map[string]any) string {
	p := &Planner{Head: &Side{charts: newCharts(head, nil, nil, nil)}, Base: &Side{charts: newCharts(base, nil, nil, nil)}}
	j := &job{out: &releaseset.Planned{}, given: []any{values}}
	p.fail(j, errors.New(text))
	return j.out.Error
}

// An error names files as the set does, wherever the trees are; URLs and other paths stay as they are.
func TestErrorsNameFilesAsTheSetDoes(t *testing.T) {
	for _, c := range []struct{ head, base, text, want string }{
		{"/srv/set", "/tmp/base-1", "load /srv/set/web/a.yaml: like /tmp/base-1/web/a.yaml", "load web/a.yaml: like web/a.yaml"},
		{"/srv/set", "/tmp/base-1", `open "/srv/set/a", '/srv/set/b' (/srv/set/c): /srv/set/d:3`, `open "a", 'b' (c): d:3`},
		{"/srv/set", "/tmp/base-1", "load chart /tmp/base-1: Chart.yaml is missing", "load chart .: Chart.yaml is missing"},
		{"/srv/set/", "/tmp/base-1/", "/srv/set/a and /srv/set", "a and ."},
		{"/charts", "/tmp/base-1", "fetch oci://reg.example.com/charts/web: no such chart", "fetch oci://reg.example.com/charts/web: no such chart"},
		{"/charts", "/tmp/base-1", "/srv/charts/a ../charts/b https://charts/c /charts-2/d", "/srv/charts/a ../charts/b https://charts/c /charts-2/d"},
		{"/", "/tmp/base-1", "fetch https://example.com/web.tgz", "fetch https://example.com/web.tgz"},
		{"/srv/set", "/srv/set/tmp/base-1", "load chart /srv/set/tmp/base-1/web", "load chart web"},
		{"/srv/set", "/srv/set/tmp/base-1", "load chart /srv/set/tmp/base-1: gone", "load chart .: gone"},
		{".", "base", "load chart ./web, base/web", "load chart ./web, base/web"},
	} {
		if got := failure(c.head, c.base, c.text, nil); got != c.want {
			t.Errorf("in %s and %s: %q, want %q", c.head, c.base, got, c.want)
		}
	}
}

// A secret that has the name of a folder in it is masked like any other.
func TestErrorsMaskSecretsWithNamesOfFolders(t *testing.T) {
	for _, secret := range []string{"/srv/set/4711-key", "key:/srv/set/4711"} {
		got := failure("/srv/set", "/tmp/base-1", "it is "+secret+" in /srv/set/a", map[string]any{"password": secret})
		if strings.Contains(got, "4711") || !strings.HasSuffix(got, " in a") {
			t.Errorf("%q", got)
		}
	}
}

// The folder that an archive of a source is unpacked to has another name each time.
func TestErrorsDoNotNameUnpackedSources(t *testing.T) {
	p := &Planner{Head: &Side{charts: newCharts("set", nil, nil, nil)}}
	unpacked := filepath.Join(t.TempDir(), "source")
	p.Head.charts.outside.folders = []string{unpacked}
	j := &job{out: &releaseset.Planned{}}
	p.fail(j, errors.New("load chart "+filepath.Join(unpacked, "web")+": Chart.yaml is missing"))
	if want := "load chart web: Chart.yaml is missing"; j.out.Error != want {
		t.Errorf("%q, want %q", j.out.Error, want)
	}
}
