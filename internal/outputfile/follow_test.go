//go:build unix

package outputfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/outputfile"
)

// In a folder that everybody may write to, somebody else plants a link where a
// plan is going to be saved, or on the way there: it is not followed. Links of
// one's own and of the folder's owner are.
func TestPlantedLinksAreNotFollowed(t *testing.T) {
	if os.Geteuid() != 0 {
		if os.Getenv("CI") != "" {
			t.Fatal("only root can give links to other users: run the tests as root")
		}
		t.Skip("only root can give links to other users")
	}
	const me, nobody, other = 0, 65534, 4711
	for name, c := range map[string]struct {
		link, folder int
		inPath       bool
		followed     bool
	}{
		"mine":                         {link: me, folder: other, followed: true},
		"the folder owner's":           {link: other, folder: other, followed: true},
		"somebody else's":              {link: nobody, folder: me},
		"another user's elsewhere":     {link: nobody, folder: other},
		"somebody else's, to a folder": {link: nobody, folder: me, inPath: true},
		"mine, to a folder":            {link: me, folder: me, inPath: true, followed: true},
	} {
		t.Run(name, func(t *testing.T) {
			shared, victim := filepath.Join(t.TempDir(), "shared"), filepath.Join(t.TempDir(), "victim")
			must(t, os.Mkdir(shared, 0o777))
			must(t, os.Chmod(shared, 0o777|os.ModeSticky))
			must(t, os.WriteFile(victim, []byte("precious"), 0o644))
			link, file := filepath.Join(shared, "web.plan"), filepath.Join(shared, "web.plan")
			to := victim
			if c.inPath {
				to, file = filepath.Dir(victim), filepath.Join(link, "victim")
			}
			must(t, os.Symlink(to, link))
			must(t, os.Lchown(link, c.link, c.link))
			must(t, os.Chown(shared, c.folder, c.folder))
			err := outputfile.Write(file, []byte("plan"), 0o600)
			data, readErr := os.ReadFile(victim)
			must(t, readErr)
			if want := map[bool]string{true: "plan", false: "precious"}[c.followed]; string(data) != want || (err == nil) != c.followed {
				t.Errorf("the file behind the link says %q, want %q; %v", data, want, err)
			}
		})
	}
}

// A path may lead over links and upwards.
func TestLinksLeadWhereTheyDo(t *testing.T) {
	folder := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(folder, "a", "b"), 0o755))
	must(t, os.Symlink(filepath.Join("a", "b"), filepath.Join(folder, "short")))
	must(t, os.Symlink(filepath.Join("..", "new.plan"), filepath.Join(folder, "a", "b", "up")))
	must(t, os.Symlink("loop", filepath.Join(folder, "loop")))
	must(t, os.WriteFile(filepath.Join(folder, "a", "new.plan"), nil, 0o644))
	must(t, outputfile.Write(filepath.Join(folder, "short", "up"), []byte("plan"), 0o600))
	if data, err := os.ReadFile(filepath.Join(folder, "a", "new.plan")); err != nil || string(data) != "plan" {
		t.Errorf("got %q, %v", data, err)
	}
	for _, file := range []string{"loop", filepath.Join("missing", "x.plan"), "a"} {
		if outputfile.Write(filepath.Join(folder, file), nil, 0o600) == nil {
			t.Errorf("%s is no error", file)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
