//go:build cluster

package hostile

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// machine is a home for the program's caches, and a folder to work in.
type machine struct {
	dir string
	env []string
}

func newMachine(t *testing.T) machine {
	t.Helper()
	dir := t.TempDir()
	return machine{dir: dir, env: []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}}
}

// files lists the files outside the cache and configuration folders.
func (m machine) files(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(m.dir, func(path string, _ fs.DirEntry, err error) error {
		if name, _ := filepath.Rel(m.dir, path); !strings.HasPrefix(name, ".cache") && !strings.HasPrefix(name, ".config") {
			out = append(out, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// unharmed checks that the program refuses something, within the two seconds of CPU time that
// sources are given, and writes nothing. Most take a tenth of a second.
func (m machine) unharmed(t *testing.T, c hostile, args ...string) {
	t.Helper()
	before := m.files(t)
	c.refused(t, time.Duration(pace()*float64(hostileTime)), m.env, clustertest.Program(t), args...)
	if after := m.files(t); !slices.Equal(before, after) {
		t.Errorf("it has written: %q, and before there was %q", after, before)
	}
}

// Every hostile archive arrives in every way in which charts can arrive.
func TestCheck49HostileArchives(t *testing.T) {
	pace()
	for name, c := range hostileArchives() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive := packed(t, c.Archive)
			server := sourcetest.Serve(t, sourcetest.Options{})
			server.Put("/web-1.0.0.tgz", archive)
			server.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "web", Version: "1.0.0", URL: "web-1.0.0.tgz", Digest: sourcetest.Digest(archive)}))
			server.PutImage(t, "charts/web", "1.0.0", archive)
			// The name of the file depends on how it arrives.
			c.Names = strings.TrimSuffix(c.Names, "web.tgz")
			m := newMachine(t)
			clustertest.WriteFiles(t, m.dir, map[string]string{"web-1.0.0.tgz": string(archive)})
			registry := "oci://" + strings.TrimPrefix(server.URL, "http://") + "/charts"
			for way, args := range map[string][]string{
				"url":    {"template", "web", server.URL + "/web-1.0.0.tgz"},
				"repo":   {"template", "web", "web", "--repo", server.URL},
				"oci":    {"template", "web", registry + "/web:1.0.0"},
				"untar":  {"pull", "--untar", "-d", m.dir, registry + "/web:1.0.0"},
				"push":   {"push", filepath.Join(m.dir, "web-1.0.0.tgz"), registry},
				"bundle": {"chart", "bundle", server.URL + "/web-1.0.0.tgz", "-d", filepath.Join(m.dir, "bundle")},
			} {
				if (way == "untar" || way == "push") && strings.Contains(name, "escape in its name") {
					continue // only its template makes it fail
				}
				t.Run(way, func(t *testing.T) { m.unharmed(t, c, args...) })
			}
			if strings.Contains(name, "escape in its name") {
				return
			}
			for way, repository := range map[string]string{"dependency": server.URL, "dependency of a registry": registry} {
				um := filepath.Join(m.dir, way)
				clustertest.WriteFiles(t, um, map[string]string{"Chart.yaml": rename("um") + "dependencies: [{name: web, version: 1.0.0, repository: " + repository + "}]\n"})
				t.Run(way, func(t *testing.T) { m.unharmed(t, c, "dependency", "update", um) })
			}
		})
	}
}

// Indexes that are not indexes, or that lie.
func TestCheck49HostileIndexes(t *testing.T) {
	const head = "apiVersion: v1\nentries:\n"
	good := "  web:\n  - {name: web, version: 1.0.0, urls: [web-1.0.0.tgz]}\n"
	for name, tc := range map[string]struct{ index, says string }{
		"empty":                         {"", "not an index"},
		"a list":                        {"[]", "not an index"},
		"a text":                        {`"x"`, "not an index"},
		"a page":                        {"<!DOCTYPE html>\n<html><head><title>x</title></head></html>", "not an index"},
		"no entries":                    {"apiVersion: v1\nentries: null\n", "there is no chart \"web\""},
		"a null entry":                  {head + "  web: [null]\n", "there is no"},
		"an empty entry":                {head + "  web: [{}]\n", "there is no"},
		"no URLs":                       {head + "  web: [{name: web, version: 1.0.0}]\n", "lists no URL"},
		"a null URL":                    {head + "  web: [{name: web, version: 1.0.0, urls: [null]}]\n", ""},
		"a chart twice":                 {head + good + good, "web"},
		"a URL with control characters": {head + "  web: [{name: web, version: 1.0.0, urls: [\"\\e]8;;x\\a\"]}]\n", ""},
		"a file for a URL":              {head + "  web: [{name: web, version: 1.0.0, urls: [\"file:///etc/passwd\"]}]\n", ""},
		"a digest that is none":         {head + "  web: [{name: web, version: 1.0.0, urls: [x.tgz], digest: \"../../x\"}]\n", "digest"},
		"a name that leads out":         {head + "  ../web: [{name: ../web, version: 1.0.0, urls: [x.tgz]}]\n", "there is no chart \"web\""},
		"an alias bomb":                 {aliasBomb(), ""},
		"deep nesting":                  {"a: " + strings.Repeat("[", 1_000_000), ""},
		"a long version":                {head + "  web: [{name: web, version: \"1." + strings.Repeat("0", 1<<20) + "\", urls: [x.tgz]}]\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			server := sourcetest.Serve(t, sourcetest.Options{})
			server.Put("/index.yaml", []byte(tc.index))
			m := newMachine(t)
			m.unharmed(t, hostile{Says: tc.says}, "template", "web", "web", "--repo", server.URL)
			um := filepath.Join(m.dir, "um")
			clustertest.WriteFiles(t, um, map[string]string{"Chart.yaml": rename("um") + "dependencies: [{name: web, version: \"*\", repository: " + server.URL + "}]\n"})
			m.unharmed(t, hostile{Says: tc.says}, "dependency", "update", um)
			clustertest.Measure(t, m.env, clustertest.Program(t), "repo", "add", "a", server.URL) // this command accepts some of them
			m.unharmed(t, hostile{}, "template", "web", "a/web")
		})
	}
	for name, chunk := range map[string]string{"zeros": strings.Repeat("\x00", 1<<20), "entries": strings.Repeat(good, 10_000)} {
		t.Run("without end, of "+name, func(t *testing.T) {
			server := sourcetest.Serve(t, sourcetest.Options{Fault: func(w http.ResponseWriter, _ *http.Request, _ int) bool {
				for {
					if _, err := w.Write([]byte(chunk)); err != nil {
						return true
					}
				}
			}})
			m := newMachine(t)
			m.unharmed(t, hostile{Says: "MiB"}, "repo", "add", "a", server.URL)
			if found, err := filepath.Glob(filepath.Join(m.dir, ".cache/helm/repository/*")); err != nil || len(found) > 0 {
				t.Errorf("%q is left, %v", found, err)
			}
		})
	}
}

// Dependencies and lock files that lie.
func TestCheck49HostileDependencies(t *testing.T) {
	server := sourcetest.Serve(t, sourcetest.Options{})
	server.Publish(t, map[string][]string{"web": {"1.0.0"}})
	dependency := func(name, version, repository string) string {
		return rename("um") + "dependencies: [{name: \"" + name + "\", version: \"" + version + "\", repository: \"" + repository + "\"}]\n"
	}
	good := dependency("web", "1.0.0", server.URL)
	lock := func(text string) map[string]string { return map[string]string{"Chart.yaml": good, "Chart.lock": text} }
	for name, files := range map[string]map[string]string{
		"a name that leads out":            {"Chart.yaml": dependency("../x", "1.0.0", server.URL)},
		"dots for a name":                  {"Chart.yaml": dependency("..", "1.0.0", server.URL)},
		"a dot for a name":                 {"Chart.yaml": dependency(".", "1.0.0", server.URL)},
		"a name with a backslash":          {"Chart.yaml": dependency(`a\\b`, "1.0.0", server.URL)},
		"a long name":                      {"Chart.yaml": dependency(strings.Repeat("x", 300), "1.0.0", server.URL)},
		"a name with control characters":   {"Chart.yaml": dependency(`a\eb`, "1.0.0", server.URL)},
		"no dependency":                    {"Chart.yaml": rename("um") + "dependencies: [null]\n"},
		"a repository with a newline":      {"Chart.yaml": dependency("web", "1.0.0", `http://x\ny`)},
		"an image with another's name":     {"Chart.yaml": dependency("web", "1.0.0", "oci://../x")},
		"a folder that is a device":        {"Chart.yaml": dependency("web", "1.0.0", "file:///dev/zero")},
		"a lock's version that leads out":  lock("dependencies:\n- name: web\n  repository: " + server.URL + "\n  version: ../../x\ndigest: sha256:00\n"),
		"a lock of a million dependencies": lock("dependencies:\n" + strings.Repeat("- {name: a}\n", 1_000_000)),
		"a lock of another algorithm":      lock("dependencies:\n- name: web\n  repository: " + server.URL + "\n  version: 1.0.0\ndigest: sha512:00\n"),
		"a lock with binary text":          lock("dependencies:\n- name: !!binary eHh4\n  version: 1.0.0\ndigest: sha256:00\n"),
		"a lock that is a list":            lock("- a\n"),
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			um := filepath.Join(m.dir, "um")
			clustertest.WriteFiles(t, um, files)
			m.unharmed(t, hostile{}, "dependency", "build", um)
		})
	}
}
