//go:build unix

package outputfile

import (
	"os"
	"path/filepath"
	"testing"
)

// In a folder that everybody may write to, somebody else plants a link where a plan is
// going to be saved, or on the way there: it is not followed. Links of one's own and of
// the folder's owner are. Only root can give links to others, so here the owners are
// told by the files' names.
func TestPlantedLinksAreNotFollowed(t *testing.T) {
	const me, nobody, other = 1000, 65534, 4711
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
			folder, err := filepath.EvalSymlinks(t.TempDir())
			must(t, err)
			shared, victim := filepath.Join(folder, "shared"), filepath.Join(folder, "victim")
			must(t, os.Mkdir(shared, 0o777))
			must(t, os.WriteFile(victim, []byte("precious"), 0o644))
			link, file := filepath.Join(shared, "web.plan"), filepath.Join(shared, "web.plan")
			to := victim
			if c.inPath {
				to, file = filepath.Dir(victim), filepath.Join(link, "victim")
			}
			must(t, os.Symlink(to, link))
			owners := map[string]int{"web.plan": c.link, "shared": c.folder}
			target, err := follow(file, users{me, func(info os.FileInfo) (int, bool) {
				id, known := owners[info.Name()]
				return id, known
			}})
			if (err == nil) != c.followed || c.followed && target != victim {
				t.Errorf("it leads to %q, want %q: %v; %v", target, victim, c.followed, err)
			}
		})
	}
}

// A file belongs to whoever made it.
func TestOwner(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine")
	must(t, os.WriteFile(file, nil, 0o600))
	info, err := os.Lstat(file)
	must(t, err)
	if id, known := owner(info); !known || id != os.Geteuid() {
		t.Errorf("it belongs to %d (%v), want %d", id, known, os.Geteuid())
	}
}

// A path may lead through links and upwards.
func TestLinksLeadWhereTheyDo(t *testing.T) {
	folder := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(folder, "a", "b"), 0o755))
	must(t, os.Symlink(filepath.Join("a", "b"), filepath.Join(folder, "short")))
	must(t, os.Symlink(filepath.Join("..", "new.plan"), filepath.Join(folder, "a", "b", "up")))
	must(t, os.Symlink("loop", filepath.Join(folder, "loop")))
	must(t, os.WriteFile(filepath.Join(folder, "a", "new.plan"), nil, 0o644))
	must(t, Write(filepath.Join(folder, "short", "up"), []byte("plan"), 0o600))
	if data, err := os.ReadFile(filepath.Join(folder, "a", "new.plan")); err != nil || string(data) != "plan" {
		t.Errorf("got %q, %v", data, err)
	}
	for _, file := range []string{"loop", filepath.Join("missing", "x.plan"), "a"} {
		if Write(filepath.Join(folder, file), nil, 0o600) == nil {
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
