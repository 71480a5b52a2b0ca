package dependency

import (
	"errors"
	"fmt"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/source"
)

// An archive that is not the locked one is an error; an archive of another chart whose name has the
// same prefix is not.
func TestVerify(t *testing.T) {
	locked := source.Digest([]byte("the locked archive"))
	for name, test := range map[string]struct {
		file, content, holds string
		differs              bool
	}{
		"the locked archive":                  {"foo-1.0.0.tgz", "the locked archive", "foo", false},
		"another archive":                     {"foo-1.0.0.tgz", "something else", "foo", true},
		"an archive without a version":        {"foo-latest.tgz", "something else", "foo", true},
		"an archive of foo-bar":               {"foo-bar-1.0.0.tgz", "something else", "foo-bar", false},
		"an archive of foo, named as foo-bar": {"foo-bar-1.0.0.tgz", "something else", "foo", true},
	} {
		t.Run(name, func(t *testing.T) {
			lock := fmt.Sprintf("dependencies:\n- {name: foo, version: 1.0.0, repository: \"https://charts.example.com\", digest: \"%s\"}\n"+
				"- {name: foo, version: 2.0.0, repository: \"https://charts.example.com\", digest: \"%s\"}\n", locked, source.Digest([]byte("another locked one")))
			c := &chart.Chart{Metadata: &chart.Metadata{APIVersion: "v2", Name: "web", Version: "1.0.0"}, Raw: []*chart.File{
				{Name: "Chart.lock", Data: []byte(lock)},
				{Name: "charts/" + test.file, Data: []byte(test.content)},
			}}
			c.AddDependency(&chart.Chart{Metadata: &chart.Metadata{APIVersion: "v2", Name: test.holds, Version: "1.0.0"}})
			err := Verify(c)
			_, differs := errors.AsType[*source.DigestError](err)
			if differs != test.differs || !differs && err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
}
