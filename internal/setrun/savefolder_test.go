package setrun

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/planfile"
)

// A set takes the place of another one in its folder. What belongs to none stays, and is not written beside.
func TestAFolderIsEmptiedOnlyOfItsSet(t *testing.T) {
	const index = `{"formatVersion": "9.0", "plans": [{"file": "shop_web.plan"}, {"file": "../other.plan"}]}`
	for name, test := range map[string]struct {
		files, left []string
		index, want string
	}{
		"an earlier set":                {files: []string{"set.json", "set.json.sig", "shop_web.plan"}, index: index, left: []string{"set.json", "shop_api.plan"}},
		"a file half written":           {files: []string{"set.json", ".kubectl-release-123", "shop_web.plan"}, index: index, left: []string{"set.json", "shop_api.plan"}},
		"only a file half written":      {files: []string{".kubectl-release-123"}, left: []string{"set.json", "shop_api.plan"}},
		"part of its plans is gone":     {files: []string{"set.json"}, index: index, left: []string{"set.json", "shop_api.plan"}},
		"no set.json":                   {files: []string{"mine.plan"}, want: "it contains mine.plan, which is not part of a saved set: name an empty folder"},
		"a signature without its set":   {files: []string{"set.json.sig"}, want: "it contains set.json.sig, which is not part of"},
		"a plan that is not of the set": {files: []string{"mine.plan", "set.json", "shop_web.plan"}, index: index, want: "it contains mine.plan, which is not part of"},
		"another set.json":              {files: []string{"set.json", "shop_web.plan"}, index: "[]", want: "its set.json is not that of a saved set"},
		"a name that only begins alike": {files: []string{"set.json", "set.jsonnet"}, index: index, want: "it contains set.jsonnet, which is not part of"},
	} {
		above := t.TempDir()
		dir := filepath.Join(above, "set")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, file := range append(test.files, "../other.plan") {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(test.index), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err := SaveFolder(dir, []File{{"shop_api.plan", []byte("a plan")}, {IndexName, []byte("{}")}})
		if test.want == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if test.want != "" {
			test.left = test.files
		}
		names, err := (&Kept{at: dir}).names()
		if err != nil || !slices.Equal(names, test.left) {
			t.Errorf("%s: left are %q, %v; want %q", name, names, err, test.left)
		}
		if _, err := os.Stat(filepath.Join(above, "other.plan")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A set that was not saved to its end can't be applied, and is no obstacle to saving it again.
func TestSavingASetIsInterrupted(t *testing.T) {
	api, index := File{"shop_api.plan", []byte("a plan")}, File{IndexName, []byte("{}")}
	failing := File{"nowhere/shop_db.plan", nil}
	for name, earlier := range map[string][]File{"the first": nil, "instead of another one": {{"shop_web.plan", []byte("a plan")}, {IndexName, []byte(`{"plans": [{"file": "shop_web.plan"}]}`)}}} {
		dir := t.TempDir()
		if earlier != nil {
			if err := SaveFolder(dir, earlier); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if err := SaveFolder(dir, []File{api, failing, index}); err == nil || !strings.Contains(err.Error(), "nowhere") {
				t.Fatalf("%s: %v", name, err)
			}
			if _, err := OpenSaved(&Kept{at: dir}, planfile.Keys{}); err == nil || !strings.Contains(err.Error(), "was not saved to its end: plan it again") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := SaveFolder(dir, []File{api, index}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if names, err := (&Kept{at: dir}).names(); err != nil || !slices.Equal(names, []string{IndexName, api.Name}) {
			t.Errorf("%s: left are %q, %v", name, names, err)
		}
	}
}
