//go:build cluster || dist

// Package packaging tests what people install: the scripts beside it, and with the
// tag dist what "make dist" has made.
package packaging

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// helm is a Helm with its own home directory.
type helm struct {
	t       *testing.T
	program string
	home    string
	// downloads is the URL where the hook finds releases.
	downloads string
}

// helms runs the test with Helm 3 and with Helm 4.
func helms(t *testing.T, test func(t *testing.T, h helm)) {
	t.Helper()
	binaries, err := clustertest.FindBinaries(context.Background(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	for name, program := range map[string]string{"helm3": binaries.Helm3, "helm4": binaries.Helm4} {
		t.Run(name, func(t *testing.T) {
			test(t, helm{t: t, program: program, home: t.TempDir(), downloads: "http://127.0.0.1:1"})
		})
	}
}

func (h helm) four() bool { return filepath.Base(h.program) == "helm4" }

// run runs Helm and returns all that it prints.
func (h helm) run(args ...string) (string, error) {
	command := exec.Command(h.program, args...)
	command.Env = append(os.Environ(), "HOME="+h.home, "HELM_DATA_HOME="+h.home+"/data", "HELM_CACHE_HOME="+h.home+"/cache",
		"HELM_CONFIG_HOME="+h.home+"/config", "KUBECTL_RELEASE_DOWNLOADS="+h.downloads)
	out, err := command.CombinedOutput()
	return string(out), err
}

// install installs the plugin from an unsigned source, and checks that it runs.
func (h helm) install(source string) {
	h.t.Helper()
	args := []string{"plugin", "install", source}
	if h.four() {
		args = append(args, "--verify=false")
	}
	out, err := h.run(args...)
	if err != nil {
		h.t.Fatalf("helm %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	if out, err = h.run("release", "version", "--short"); err != nil || strings.TrimSuffix(strings.TrimSpace(out), "-dev") != pluginVersion(h.t) {
		h.t.Errorf("helm release version --short: %v, %s", err, out)
	}
}

func pluginVersion(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../plugin.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var plugin struct{ Version string }
	if err := yaml.Unmarshal(data, &plugin); err != nil {
		t.Fatal(err)
	}
	return plugin.Version
}

// checkout returns a folder with the plugin's files as they are in the repository.
func checkout(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "kubectl-release")
	for _, name := range []string{"plugin.yaml", "plugin.complete", "packaging/helm-install.sh", "packaging/helm-install.ps1"} {
		data, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Check 44: If the program is already in the folder, nothing is downloaded.
func TestHelmInstallsFromAFolderWithTheHook(t *testing.T) {
	helms(t, func(t *testing.T, h helm) {
		dir := checkout(t)
		if err := os.Symlink(clustertest.Program(t), filepath.Join(dir, "kubectl-release")); err != nil {
			t.Fatal(err)
		}
		h.install(dir)
	})
}

// From a checkout the hook fetches the program in plugin.yaml's version, and rejects one
// that does not match checksums.txt.
func TestHelmInstallsFromAGitCheckout(t *testing.T) {
	version := pluginVersion(t)
	archive := fmt.Sprintf("kubectl-release_%s_%s_%s.tar.gz", version, runtime.GOOS, runtime.GOARCH)
	packed := programArchive(t)
	helms(t, func(t *testing.T, h helm) {
		sum := fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte("another")), archive)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/v" + version + "/" + archive:
				_, _ = w.Write(packed)
			case "/v" + version + "/checksums.txt":
				_, _ = w.Write([]byte("0000  another.tar.gz\n" + sum))
			default:
				http.NotFound(w, r)
			}
		}))
		defer server.Close()
		h.downloads = server.URL
		dir := checkout(t)
		git := exec.Command("sh", "-c", "git init -q -b main . && git add . && git -c user.name=a -c user.email=a@example.com commit -q -m release")
		git.Dir, git.Env = dir, append(os.Environ(), "HOME="+h.home)
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		args := []string{"plugin", "install", "file://" + dir}
		if h.four() {
			args = append(args, "--verify=false")
		}
		if out, err := h.run(args...); err == nil || !strings.Contains(out, "is not what checksums.txt promises") {
			t.Errorf("an archive with another checksum: %v\n%s", err, out)
		}
		if found, _ := filepath.Glob(h.home + "/data/plugins/*/kubectl-release"); len(found) > 0 {
			t.Errorf("it is installed: %s", found)
		}
		if err := os.RemoveAll(h.home + "/data/plugins"); err != nil {
			t.Fatal(err)
		}
		sum = fmt.Sprintf("%x  %s\n", sha256.Sum256(packed), archive)
		h.install("file://" + dir)
		// Helm cleans its checkout on updates: the program is removed, and fetched again.
		if out, err := h.run("plugin", "update", "release"); err != nil {
			t.Errorf("an update: %v\n%s", err, out)
		}
		if out, err := h.run("release", "version", "--short"); err != nil {
			t.Errorf("after an update: %v\n%s", err, out)
		}
	})
}

// programArchive returns a release archive with the program in it.
func programArchive(t *testing.T) []byte {
	t.Helper()
	program, err := os.ReadFile(clustertest.Program(t))
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	for name, content := range map[string][]byte{"LICENSE": []byte("…"), "kubectl-release": program} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}
