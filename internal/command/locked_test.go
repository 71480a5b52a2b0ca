package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/source"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// umbrella returns the files of a chart with a lock and an archive in charts/, which need not be the
// locked one.
func umbrella(t *testing.T, version, text string) map[string]string {
	t.Helper()
	locked := source.Digest(sourcetest.Chart(t, "foo", "1.0.0", "locked"))
	return map[string]string{
		"Chart.yaml":           "apiVersion: v2\nname: um\nversion: " + version + "\ndependencies:\n- {name: foo, version: 1.0.0, repository: \"https://charts.example.com\"}\n",
		"Chart.lock":           "dependencies:\n- {name: foo, version: 1.0.0, repository: \"https://charts.example.com\", digest: \"" + locked + "\"}\n",
		"charts/foo-1.0.0.tgz": string(sourcetest.Chart(t, "foo", "1.0.0", text)),
	}
}

// Wherever a chart is rendered, the archives in its charts/ are those in its lock; lint lists it among
// the errors.
func TestRenderedChartsMatchTheirLock(t *testing.T) {
	d := atDesk(t)
	for name, text := range map[string]string{"good": "locked", "bad": "other"} {
		for file, content := range umbrella(t, "1.0.0", text) {
			d.file(name+"/"+file, content)
		}
	}
	for line, code := range map[string]int{
		"lint ./%s":                                   exitError,
		"template um ./%s":                            exitUntrusted,
		"plan um ./%s":                                exitUntrusted,
		"plan um ./good --against ./%s":               exitUntrusted,
		"plan um ./good --against ./%s --offline":     exitUntrusted,
		"plan um ./%s --against /dev/null --offline":  exitUntrusted,
		"package ./%s":                                exitUntrusted,
		"chart bundle ./%s -d bundle":                 exitUntrusted,
		"template um ./%s --show-only charts/foo/x":   exitUntrusted,
		"install um ./%s --dry-run=client -n another": exitUntrusted,
	} {
		a := d.types(fmt.Sprintf(line, "bad"))
		if a.code != code || !strings.Contains(a.out+a.err, "was promised") {
			t.Errorf(line+": exit code %d\n%s%s", "bad", a.code, a.out, a.err)
		}
		if a := d.types(fmt.Sprintf(line, "good")); strings.Contains(a.out+a.err, "was promised") {
			t.Errorf(line+": exit code %d\n%s%s", "good", a.code, a.out, a.err)
		}
	}
}

// A newer chart that does not match its lock is not planned.
func TestNewerChartsMatchTheirLock(t *testing.T) {
	d, server := atDesk(t), sourcetest.Serve(t, sourcetest.Options{})
	var entries []sourcetest.Entry
	for version, text := range map[string]string{"1.0.0": "locked", "1.1.0": "other"} {
		file := "um-" + version + ".tgz"
		server.Put("/"+file, sourcetest.Archive(t, "um", umbrella(t, version, text)))
		entries = append(entries, sourcetest.Entry{Name: "um", Version: version, URL: file})
	}
	server.Put("/index.yaml", sourcetest.Index(entries...))
	d.must("repo add stable " + server.URL)
	d.must("install web stable/um --version 1.0.0")
	if a := d.must("list --outdated --plan"); !strings.Contains(a.out, "was promised") {
		t.Errorf("%s%s", a.out, a.err)
	}
}
