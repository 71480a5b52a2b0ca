package resolve

import (
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

func knownA(t *testing.T) *Repositories {
	t.Helper()
	known, err := ParseRepositories([]byte("repositories: [{name: a, url: http://h/charts/}]"))
	if err != nil {
		t.Fatal(err)
	}
	return known
}

func TestDeclared(t *testing.T) {
	m := &chart.Metadata{Dependencies: []*chart.Dependency{{Name: "x", Repository: "@a"}, {Name: "y", Repository: "alias:b"}, {Name: "z", Repository: "http://z"}}}
	if _, err := Declared(m, knownA(t), nil); err == nil || !strings.Contains(err.Error(), `"b"`) {
		t.Error(err)
	}
	lock := &Lock{Dependencies: []Locked{{}, {Repository: "http://locked"}}}
	got, err := Declared(m, knownA(t), lock)
	if err != nil || got[0].Repository != "http://h/charts/" || got[1].Repository != "http://locked" || got[2].Repository != "http://z" {
		t.Errorf("%+v, %v", got, err)
	}
	if m.Dependencies[0].Repository != "@a" {
		t.Error("Chart.yaml's own have changed")
	}
}

func TestDependency(t *testing.T) {
	for name, tc := range map[string]struct {
		d     chart.Dependency
		exact bool
		want  Reference
		err   string
	}{
		"configured":   {d: chart.Dependency{Name: "x", Version: "^1", Repository: "http://h/charts"}, want: Reference{Kind: Configured, Name: "x", Repository: "a", URL: "http://h/charts", Version: Wanted{Version: "^1", Range: true}}},
		"unconfigured": {d: chart.Dependency{Name: "x", Version: "1.0.0", Repository: "https://other"}, exact: true, want: Reference{Kind: Unconfigured, Name: "x", URL: "https://other", Version: Wanted{Version: "1.0.0"}}},
		"tag":          {d: chart.Dependency{Name: "x", Version: "1.0.0+b", Repository: "oci://h/p/"}, want: Reference{Kind: Registry, Name: "x", Image: Image{Host: "h", Path: "p/x", Tag: "1.0.0_b"}, Version: Wanted{Version: "1.0.0+b"}}},
		"v tag":        {d: chart.Dependency{Name: "x", Version: "v1.2.3", Repository: "oci://h/p"}, want: Reference{Kind: Registry, Name: "x", Image: Image{Host: "h", Path: "p/x", Tag: "v1.2.3"}, Version: Wanted{Version: "v1.2.3"}}},
		"tags":         {d: chart.Dependency{Name: "x", Version: "1.2", Repository: "oci://h/p"}, want: Reference{Kind: Registry, Name: "x", Image: Image{Host: "h", Path: "p/x"}, Version: Wanted{Version: "1.2", Range: true}}},
		"folder":       {d: chart.Dependency{Name: "x", Version: "*", Repository: "file://../x"}, want: Reference{Kind: Local, Name: "x", Path: "charts/x", Version: Wanted{Version: "*", Range: true}}},
		"absolute":     {d: chart.Dependency{Name: "x", Version: "*", Repository: "file:///x"}, want: Reference{Kind: Local, Name: "x", Path: "/x", Version: Wanted{Version: "*", Range: true}}},
		"in charts":    {d: chart.Dependency{Name: "x", Version: "1.x"}, exact: true, want: Reference{Kind: Vendored, Name: "x", Path: "charts/um/charts/x", Version: Wanted{Version: "1.x"}}},
		"no range":     {d: chart.Dependency{Name: "x", Version: "one", Repository: "http://h"}, err: "neither a version nor a range"},
		"no version":   {d: chart.Dependency{Name: "x", Version: "../..", Repository: "http://h"}, exact: true, err: "is not a version"},
		"no place":     {d: chart.Dependency{Name: "x", Version: "1", Repository: "stable"}, err: `"stable" is not a repository`},
		"other scheme": {d: chart.Dependency{Name: "x", Version: "1", Repository: "ftp://u:p@h"}, err: `dependency x: ftp://h: URLs of scheme "ftp" can't be fetched`},
		"leads out":    {d: chart.Dependency{Name: "../x", Version: "1", Repository: "http://h"}, err: "this is not a valid chart name"},
		"dots":         {d: chart.Dependency{Name: "..", Version: "1", Repository: ""}, err: "this is not a valid chart name"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Dependency(&tc.d, knownA(t), "charts/um", nil, tc.exact)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%v, want %q", err, tc.err)
				}
				return
			}
			if err != nil || got != tc.want {
				t.Errorf("%+v, %v; want %+v", got, err, tc.want)
			}
		})
	}
}

func TestStatus(t *testing.T) {
	d := &chart.Dependency{Name: "x", Version: "^1"}
	archive := func(file, name, version string) InCharts {
		return InCharts{File: file, Archive: true, Name: name, Version: version, Digest: "sha256:1"}
	}
	good := archive("x-1.0.0.tgz", "x", "1.0.0")
	for name, tc := range map[string]struct {
		have []InCharts
		lock *Lock
		want string
	}{
		"nothing":       {want: "missing"},
		"archive":       {have: []InCharts{good}, want: "ok"},
		"another chart": {have: []InCharts{archive("x-y-1.0.0.tgz", "x-y", "1.0.0")}, want: "missing"},
		"old":           {have: []InCharts{archive("x-0.1.0.tgz", "x", "0.1.0")}, want: "wrong version"},
		"old and good":  {have: []InCharts{archive("x-0.1.0.tgz", "x", "0.1.0"), good}, want: "ok"},
		"two":           {have: []InCharts{archive("x-1.1.0.tgz", "x", "1.1.0"), good}, want: "too many matches"},
		"broken":        {have: []InCharts{archive("x-1.0.0.tgz", "", "")}, want: "corrupt"},
		"misnamed":      {have: []InCharts{archive("x-1.0.0.tgz", "y", "1.0.0")}, want: "misnamed"},
		"folder":        {have: []InCharts{{File: "x", Name: "x", Version: "1.0.0"}}, want: "unpacked"},
		"locked":        {have: []InCharts{good}, lock: &Lock{Dependencies: []Locked{{Name: "x", Version: "1.0.0", Digest: "sha256:1"}}}, want: "ok"},
		"republished":   {have: []InCharts{good}, lock: &Lock{Dependencies: []Locked{{Name: "x", Version: "1.0.0", Digest: "sha256:2"}}}, want: "wrong digest"},
		"Helm's lock":   {have: []InCharts{good}, lock: &Lock{Dependencies: []Locked{{Name: "x", Version: "1.0.0"}}}, want: "ok"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Status(d, tc.have, tc.lock); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
	if got := Status(&chart.Dependency{Name: "x", Version: "one"}, nil, nil); got != "invalid version" {
		t.Error(got)
	}
}
