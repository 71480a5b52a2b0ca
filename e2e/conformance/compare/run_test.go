package compare

import (
	"os"
	"path/filepath"
	"testing"
)

// Two programs that can't be run agree on every chart, which is not a result.
func TestSidesThatAreNotThere(t *testing.T) {
	us, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(t.TempDir(), "helm4")
	for _, s := range []Sides{{Helm: missing, Ours: us}, {Helm: us, Ours: missing}, {Helm: missing, Ours: missing}} {
		if s.Check() == nil {
			t.Errorf("%+v passes", s)
		}
	}
	if err := (Sides{Helm: us, Ours: us}).Check(); err != nil {
		t.Error(err)
	}
}
