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
		file, content string
		differs       bool
	}{
		"the locked archive":         {"foo-1.0.0.tgz", "the locked archive", false},
		"another archive":            {"foo-1.0.0.tgz", "something else", true},
		"an archive of some release": {"foo-1.0.1-rc.1.tgz", "something else", true},
		"an archive of foo-bar":      {"foo-bar-1.0.0.tgz", "something else", false},
	} {
		t.Run(name, func(t *testing.T) {
			lock := fmt.Sprintf("dependencies:\n- name: foo\n  version: 1.0.0\n  repository: https://charts.example.com\n  digest: %s\n", locked)
			err := Verify(&chart.Chart{Metadata: &chart.Metadata{APIVersion: "v2", Name: "web", Version: "1.0.0"}, Raw: []*chart.File{
				{Name: "Chart.lock", Data: []byte(lock)},
				{Name: "charts/" + test.file, Data: []byte(test.content)},
			}})
			_, differs := errors.AsType[*source.DigestError](err)
			if differs != test.differs || !differs && err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
}
