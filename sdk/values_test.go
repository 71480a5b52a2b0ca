package sdk

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// Values of Go's own types are those of decoded JSON, as they are after a record was read.
func TestValuesOfGoTypes(t *testing.T) {
	type port int
	type probe struct {
		Path  string `json:"path"`
		Delay int    `json:"delay"`
	}
	list, large := []string{"a"}, 12345678
	got, err := plainTable(map[string]any{
		"list": list, "labels": map[string]string{"team": "x"}, "ports": []port{80}, "sizes": map[string]uint16{"a": 12345},
		"probe": &probe{"/", large}, "pointer": &large, "unsigned": uint64(12345678), "address": net.IPv4(10, 0, 0, 1), "at": time.Unix(0, 0).UTC(), "bytes": []byte("hi"), "null": nil, "off": false,
		"int": 12345678, "float": 1.5, "whole": float64(12345678), "deep": map[string]any{"x": []any{[]int{1}}},
	})
	want := map[string]any{
		"list": []any{"a"}, "labels": map[string]any{"team": "x"}, "ports": []any{int64(80)}, "sizes": map[string]any{"a": int64(12345)},
		"probe": map[string]any{"path": "/", "delay": int64(12345678)}, "pointer": int64(12345678), "unsigned": int64(12345678), "address": "10.0.0.1", "at": "1970-01-01T00:00:00Z", "bytes": "aGk=", "null": nil, "off": false,
		"int": int64(12345678), "float": 1.5, "whole": float64(12345678), "deep": map[string]any{"x": []any{[]any{int64(1)}}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v: -want +got\n%s", err, diff)
	}
	if _, err := plainTable(map[string]any{"a": map[string]any{"b": make(chan int)}}); err == nil || !strings.HasPrefix(err.Error(), "value a: value b: json: ") {
		t.Error(err)
	}
}

// A release is looked for in one namespace, by a name that Helm allows.
func TestReleasesAreChecked(t *testing.T) {
	client := &Client{}
	for want, r := range map[string]Release{
		`release "web": a namespace is required`: {Name: "web"},
		`"Web" is not a valid release name`:      {Namespace: "shop", Name: "Web"},
		`"" is not a valid release name`:         {Namespace: "shop"},
	} {
		_, planned := client.Plan(t.Context(), Uninstall{Release: r})
		_, listed := client.History(t.Context(), r)
		_, read := client.Get(t.Context(), r, 0)
		for _, err := range []error{planned, listed, read} {
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
	if _, err := Template(t.Context(), Release{Namespace: "shop", Name: "web"}, nil, nil, TemplateOptions{}); err == nil {
		t.Error("no chart is rendered")
	}
}

// What an operation's options say is checked before a request is made: a pattern that can't be read would mask
// nothing.
func TestOptionsAreChecked(t *testing.T) {
	release := Release{Namespace: "shop", Name: "web"}
	chart, err := LoadChart("../testdata/charts/web")
	fine(t, err)
	for want, o := range map[string]Operation{
		`sensitive: ":data.token" names no object before the colon`: Uninstall{Release: release, Run: Run{Sensitive: []string{":data.token"}}},
		`"owner" is reserved for the record itself`:                 Install{Release: release, Chart: chart, Labels: map[string]string{"owner": "me"}},
		`"my team" can't be the key of a label: `:                   Upgrade{Release: release, Chart: chart, Labels: map[string]string{"my team": "shop"}},
		`"the shop" can't be the value of a label: `:                Upgrade{Release: release, Chart: chart, Labels: map[string]string{"team": "the shop"}},
	} {
		client, err := New(&rest.Config{Host: "http://127.0.0.1:1"}, Options{})
		fine(t, err)
		if _, err := client.Plan(t.Context(), o); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A chart whose archives in charts/ are not those of its lock is refused, as on the command line.
func TestLockedChart(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies: [{name: db, version: 1.0.0, repository: https://example.com}]\n",
		"Chart.lock": "dependencies: [{name: db, version: 1.0.0, repository: https://example.com, digest: sha256:0123456789012345678901234567890123456789012345678901234567890123}]\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(folder, "charts"), 0o700); err != nil {
		t.Fatal(err)
	}
	data := sourcetest.Archive(t, "db", map[string]string{"Chart.yaml": "apiVersion: v2\nname: db\nversion: 1.0.0\n"})
	if err := os.WriteFile(filepath.Join(folder, "charts", "db-1.0.0.tgz"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadChart(folder); err == nil || !strings.Contains(err.Error(), "digest") {
		t.Errorf("an archive that is not that of the lock: %v", err)
	}
}
