//go:build cluster

// Package sources_test holds the numbered acceptance checks of chart sources, with the whole program,
// Helm 4 next to it, and real servers on 127.0.0.1.
package sources_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

func TestMain(m *testing.M) { os.Exit(clustertest.MainWithoutCluster(m)) }

var binaries = sync.OnceValues(func() (clustertest.Binaries, error) {
	ctx, stop := testContext()
	defer stop()
	return clustertest.FindBinaries(ctx, os.Stderr)
})

// home stands for a machine of its own that our program and Helm share.
type home struct {
	t   testing.TB
	dir string
	env []string
}

func newHome(t testing.TB) *home {
	t.Helper()
	dir := t.TempDir()
	env := []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "HELM_PLUGINS=" + filepath.Join(dir, "plugins")}
	return &home{t: t, dir: dir, env: env}
}

// result is what a program printed, and its exit code.
type result struct {
	out, err string
	code     int
}

// k runs our program in the home.
func (h *home) k(args ...string) result { return h.run("", clustertest.Program(h.t), args...) }

// helm4 runs Helm 4.
func (h *home) helm4(args ...string) result {
	h.t.Helper()
	b, err := binaries()
	if err != nil {
		h.t.Fatal(err)
	}
	return h.run("", b.Helm4, args...)
}

func (h *home) run(in, program string, args ...string) result {
	h.t.Helper()
	var out, errs bytes.Buffer
	c := exec.Command(program, args...)
	c.Dir, c.Env, c.Stdin, c.Stdout, c.Stderr = h.dir, h.env, strings.NewReader(in), &out, &errs
	err := c.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		h.t.Fatalf("%s %s: %v", program, strings.Join(args, " "), err)
	} else if ok {
		return result{out.String(), errs.String(), exit.ExitCode()}
	}
	return result{out.String(), errs.String(), 0}
}

// ok runs our program, which has to succeed.
func (h *home) ok(args ...string) result {
	h.t.Helper()
	r := h.k(args...)
	if r.code != 0 {
		h.t.Fatalf("%s: exit code %d\n%s", strings.Join(args, " "), r.code, r.err)
	}
	return r
}

// fails runs our program, which has to end with an exit code and say why.
func (h *home) fails(code int, why string, args ...string) result {
	h.t.Helper()
	r := h.k(args...)
	if r.code != code || !strings.Contains(r.err, why) {
		h.t.Errorf("%s: exit code %d, want %d and %q:\n%s", strings.Join(args, " "), r.code, code, why, r.err)
	}
	if strings.Contains(r.err, "panic") || strings.Count(r.err, "Error: ") != 1 {
		h.t.Errorf("%s: not one message:\n%s", strings.Join(args, " "), r.err)
	}
	return r
}

// helm runs Helm 4, which has to succeed.
func (h *home) helm(args ...string) result {
	h.t.Helper()
	r := h.helm4(args...)
	if r.code != 0 {
		h.t.Fatalf("helm %s: exit code %d\n%s", strings.Join(args, " "), r.code, r.err)
	}
	return r
}

func (h *home) path(parts ...string) string {
	return filepath.Join(append([]string{h.dir}, parts...)...)
}

func (h *home) write(name, content string) string {
	h.t.Helper()
	file := h.path(name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o644)); err != nil {
		h.t.Fatal(err)
	}
	return file
}

func (h *home) read(name string) string {
	h.t.Helper()
	data, err := os.ReadFile(h.path(name))
	if err != nil {
		h.t.Fatal(err)
	}
	return string(data)
}

func (h *home) exists(name string) bool {
	_, err := os.Lstat(h.path(name))
	return err == nil
}

// same reports whether two renderings say the same: ours ends with one more newline.
func same(a, b result) bool {
	return a.out != "" && strings.TrimSpace(a.out) == strings.TrimSpace(b.out)
}

// repositoryA is the repository that most checks use.
func repositoryA(t testing.TB, o sourcetest.Options) *sourcetest.Repository {
	t.Helper()
	r := sourcetest.Serve(t, o)
	r.Publish(t, map[string][]string{
		"alpha": {"1.0.0", "0.9.0"},
		"beta":  {"1.0.0", "1.2.0", "1.2.5", "1.3.0", "2.0.0"},
		"pre":   {"1.0.0-rc.1"},
		"plus":  {"1.0.0+build.1", "1.0.0+build.5"},
	})
	return r
}

func program(t testing.TB) string { return clustertest.Program(t) }

// fetchManifest returns a manifest as the registry serves it.
func fetchManifest(t testing.TB, url string) []byte {
	t.Helper()
	q, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Accept", "application/vnd.oci.image.manifest.v1+json")
	resp, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, resp.Status, err)
	}
	return data
}

// forward hands a request on to another server.
func forward(w http.ResponseWriter, q *http.Request, host string) {
	httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: host}).ServeHTTP(w, q)
}
