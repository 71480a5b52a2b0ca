package dependency

import (
	"errors"
	"fmt"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/source"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// An archive that is not the locked one is an error, whatever it is called, and even beside the locked
// one; an archive of another chart is not, nor is that of a dependency whose digest the lock does not have.
func TestVerify(t *testing.T) {
	archive := func(name, version, text string) string { return string(sourcetest.Chart(t, name, version, text)) }
	locked := archive("foo", "1.0.0", "locked")
	entry := func(name, version, digest string) string {
		return fmt.Sprintf("- {name: %s, version: %q, repository: \"\", digest: %q}\n", name, version, digest)
	}
	pinned := entry("foo", "1.0.0", source.Digest([]byte(locked)))
	for name, test := range map[string]struct {
		lock    string
		files   map[string]string
		differs bool
	}{
		"the locked archive":                    {pinned, map[string]string{"foo-1.0.0.tgz": locked}, false},
		"the locked archive, renamed":           {pinned, map[string]string{"x.tgz": locked}, false},
		"another archive":                       {pinned, map[string]string{"foo-1.0.0.tgz": archive("foo", "1.0.0", "other")}, true},
		"another archive, renamed":              {pinned, map[string]string{"x.tgz": archive("foo", "1.0.0", "other")}, true},
		"another version":                       {pinned, map[string]string{"foo-2.0.0.tgz": archive("foo", "2.0.0", "")}, true},
		"another archive beside it":             {pinned, map[string]string{"foo-1.0.0.tgz": locked, "x.tgz": archive("foo", "1.0.0", "other")}, true},
		"another archive beside a folder":       {pinned, map[string]string{"foo/Chart.yaml": chartYAML("foo", "1.0.0"), "x.tgz": archive("foo", "1.0.0", "other")}, true},
		"an archive of foo-bar":                 {pinned, map[string]string{"foo-bar-1.0.0.tgz": archive("foo-bar", "1.0.0", "")}, false},
		"an archive of foo, named as foo-bar":   {pinned, map[string]string{"foo-bar-1.0.0.tgz": archive("foo", "1.0.0", "other")}, true},
		"one that is not rendered":              {pinned, map[string]string{"_foo-1.0.0.tgz": archive("foo", "1.0.0", "other")}, false},
		"an archive of a subchart's own":        {pinned, map[string]string{"bar/charts/foo-1.0.0.tgz": archive("foo", "1.0.0", "other")}, false},
		"two versions":                          {pinned + entry("foo", "2.0.0", source.Digest([]byte(archive("foo", "2.0.0", "")))), map[string]string{"a.tgz": locked, "b.tgz": archive("foo", "2.0.0", "")}, false},
		"a second one, from a folder":           {pinned + entry("foo", "2.0.0", ""), map[string]string{"a.tgz": locked, "b.tgz": archive("foo", "2.0.0", "any")}, false},
		"a second one, without a repository":    {pinned + entry("foo", ">=2", ""), map[string]string{"a.tgz": locked, "b.tgz": archive("foo", "2.1.0", "any")}, false},
		"neither the locked one nor the second": {pinned + entry("foo", "2.0.0", ""), map[string]string{"b.tgz": archive("foo", "3.0.0", "")}, true},
		"a lock that Helm wrote":                {entry("foo", "1.0.0", ""), map[string]string{"foo-1.0.0.tgz": archive("foo", "1.0.0", "any")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := &chart.Chart{Metadata: &chart.Metadata{APIVersion: "v2", Name: "web", Version: "1.0.0"}, Raw: []*chart.File{
				{Name: "Chart.lock", Data: []byte("dependencies:\n" + test.lock)},
			}}
			for file, content := range test.files {
				c.Raw = append(c.Raw, &chart.File{Name: "charts/" + file, Data: []byte(content)})
			}
			err := Verify(c)
			_, differs := errors.AsType[*source.DigestError](err)
			if differs != test.differs || !differs && err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
}

// A lock and archives that would take long to compare are refused.
func TestVerifyIsBounded(t *testing.T) {
	lock := fmt.Sprintf("dependencies:\n- {name: a, version: 0.0.1, digest: %q}\n", source.Digest(nil))
	for i := range 1000 {
		lock += fmt.Sprintf("- {name: a, version: 7.%d.1}\n", i)
	}
	c := &chart.Chart{Metadata: &chart.Metadata{APIVersion: "v2", Name: "web", Version: "1.0.0"}, Raw: []*chart.File{{Name: "Chart.lock", Data: []byte(lock)}}}
	for i := range 60 {
		c.Raw = append(c.Raw, &chart.File{Name: fmt.Sprintf("charts/a-%d.tgz", i), Data: sourcetest.Chart(t, "a", fmt.Sprintf("7.%d.1", i), "")})
	}
	if err := Verify(c); err == nil || err.Error() != "chart web: more than 50000 versions would have to be compared with those in Chart.lock" {
		t.Error(err)
	}
}
