//go:build cluster

package sources_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

const hostsFile = ".config/helm/registry/hosts.yaml"

// How to connect to a registry is set once, at login, and applies to every command that uses the
// registry, wherever it is run.
func TestRegistriesAreRemembered(t *testing.T) {
	s, h := secureRegistry(t), newHome(t)
	ref, ca := "oci://"+s.Host+"/charts/alpha", h.write("tls/ca.pem", read(t, s.CAFile))
	login := func(password string, more ...string) result {
		return h.runProgram(password+"\n", append([]string{"registry", "login", s.Host, "-u", "u", "--password-stdin"}, more...)...)
	}
	if r := login("p"); r.code != 1 || !strings.Contains(r.err, "--ca-file FILE, which registry login and repo add remember") {
		t.Errorf("%+v", r)
	}
	if r := login("wrong", "--ca-file", "tls/ca.pem"); r.code != 1 || h.exists(hostsFile) {
		t.Errorf("%+v", r)
	}
	if r := login("p", "--ca-file", "tls/ca.pem"); r.code != 0 || !strings.Contains(r.err, "CA file "+ca) {
		t.Fatalf("%+v", r)
	}
	if kept := h.read(hostsFile); kept != s.Host+":\n  caFile: "+ca+"\n" {
		t.Errorf("%s", kept)
	}
	must(t, os.Mkdir(h.path("elsewhere"), 0o755))
	h.umbrella("um", "{name: alpha, version: ^1, repository: 'oci://"+s.Host+"/charts'}")
	h.chartFile("alpha", "1.0.0", "")
	for _, line := range []string{
		"push ../alpha-1.0.0.tgz oci://" + s.Host + "/charts", "pull " + ref, "show chart " + ref, "template web " + ref + " --version ^1",
		"plan web " + ref + " --against " + ref + " --against-version 1.0.0", "search " + ref, "dependency update ../um", "dependency build ../um", "chart bundle " + ref + " -d b",
	} {
		c := h.in("elsewhere").k(strings.Fields(line)...)
		if c.code != 0 {
			t.Errorf("%s: %+v", line, c)
		}
	}
	// Helm reads its own files as before.
	h.helm("pull", ref, "--ca-file", ca)
	// A flag takes precedence over what is remembered; without one, login keeps that.
	h.fails(1, "holds no certificates", "show", "chart", ref, "--ca-file", h.write("empty.pem", ""))
	if r := login("p"); r.code != 0 || !h.exists(hostsFile) {
		t.Errorf("%+v", r)
	}
	if r := login("p", "--insecure"); r.code != 0 || h.read(hostsFile) != s.Host+":\n  insecureSkipTLSVerify: true\n" {
		t.Errorf("%+v", r)
	}
	h.ok("show", "chart", ref)
	h.ok("registry", "login", s.Host, "-u", "u", "-p", "p", "--ca-file", ca, "--registry-config", "own/config.json")
	h.ok("pull", ref, "--registry-config", "own/config.json")
	if !strings.Contains(h.read("own/hosts.yaml"), ca) || strings.Contains(h.read(hostsFile), ca) {
		t.Error(h.read("own/hosts.yaml"), h.read(hostsFile))
	}
	h.ok("registry", "logout", s.Host)
	if h.read(hostsFile) != "{}\n" {
		t.Error(h.read(hostsFile))
	}
	h.ok("registry", "logout", s.Host)
	h.fails(1, "x509", "show", "chart", ref)
	h.write(hostsFile, s.Host+": {caFile: nowhere.pem}\n")
	h.fails(1, "according to "+h.path(hostsFile), "show", "chart", ref)
	h.write(hostsFile, s.Host+": {authority: x}\n")
	h.fails(1, `unknown field "authority"`, "show", "chart", ref)
}

// in returns the home as seen from one of its folders.
func (h *home) in(folder string) *home {
	out := *h
	out.dir = filepath.Join(h.dir, folder)
	return &out
}

func read(t testing.TB, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	must(t, err)
	return string(data)
}

// What repo add is told about a server applies to everything that is fetched from it, whatever names
// it; so does what Helm has added.
func TestServersOfRepositoriesAreRemembered(t *testing.T) {
	b := repositoryA(t, sourcetest.Options{TLS: true, User: "u", Password: "p"})
	login := []string{"--username", "u", "--password", "p"}
	for name, add := range map[string][]string{"a CA": {"--ca-file", "ca.pem"}, "none": {"--insecure-skip-tls-verify"}} {
		for _, byHelm := range []bool{false, true} {
			h := newHome(t)
			h.write("ca.pem", read(t, b.CAFile))
			line := append(append([]string{"repo", "add", "b", b.URL}, login...), add...)
			if byHelm {
				if name == "a CA" {
					line[len(line)-1] = h.path("ca.pem") // otherwise Helm does not find it from another folder
				}
				h.helm(line...)
			} else {
				h.ok(line...)
			}
			must(t, os.Mkdir(h.path("elsewhere"), 0o755))
			h.umbrella("um", "{name: alpha, version: ^1, repository: "+b.URL+"}")
			h.umbrella("other", "{name: alpha, version: ^1, repository: "+b.URL+"/}")
			for _, line := range [][]string{
				{"repo", "update"},
				{"pull", "b/alpha"},
				{"show", "chart", "b/alpha", "--version", "0.9.0"},
				append([]string{"show", "chart", "beta", "--repo", b.URL}, login...),
				{"template", "web", b.URL + "/plus-1.0.0+build.5.tgz"},
				append([]string{"template", "web", "b/beta"}, login...),
				{"dependency", "update", "../um"},
				append([]string{"dependency", "update", "../other"}, login...),
			} {
				if r := h.in("elsewhere").k(line...); r.code != 0 {
					t.Errorf("%s, by Helm %v: %q: %+v", name, byHelm, line, r)
				}
			}
			if !byHelm {
				if r := h.helm4("pull", "b/beta", "--version", "1.2.0"); (r.code == 0) != (name == "a CA") {
					t.Errorf("%s: Helm: %+v", name, r)
				}
				if r := h.ok(line...); !strings.Contains(r.out, "skipping") {
					t.Errorf("%+v", r)
				}
			}
		}
	}
}

// What is remembered about one server does not apply to another one that it leads to.
func TestInsecureIsForOneServer(t *testing.T) {
	files := repositoryA(t, sourcetest.Options{TLS: true})
	a := sourcetest.Serve(t, sourcetest.Options{TLS: true, Redirect: map[string]string{"/moved/": files.URL + "/"}})
	a.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: "1.0.0", URL: "moved/alpha-1.0.0.tgz"}, sourcetest.Entry{Name: "beta", Version: "1.0.0", URL: files.URL + "/beta-1.0.0.tgz"}))
	h := newHome(t)
	h.ok("repo", "add", "a", a.URL, "--insecure-skip-tls-verify")
	for _, chart := range []string{"a/alpha", "a/beta"} {
		h.fails(1, "x509", "show", "chart", chart)
	}
	if asked := files.Asked(); len(asked) != 0 {
		t.Errorf("asked %q", asked)
	}
	h.write(hostsFile, strings.TrimPrefix(files.URL, "https://")+": {caFile: "+files.CAFile+"}\n")
	h.ok("show", "chart", "a/alpha")
	h.ok("show", "chart", "a/beta")
}

// A registry without TLS is remembered at login, too.
func TestPlainHTTPIsRemembered(t *testing.T) {
	server, h := sourcetest.Serve(t, sourcetest.Options{Fault: func(w http.ResponseWriter, q *http.Request, _ int) bool {
		return q.URL.Path == "/v2/" // 200, as after every login
	}}), newHome(t)
	server.PutImage(t, "charts/alpha", "1.0.0", sourcetest.Chart(t, "alpha", "1.0.0", ""))
	h.env = append(h.env, "HTTP_PROXY="+server.URL, "HTTPS_PROXY="+server.URL)
	show := []string{"show", "chart", "oci://registry.internal:5000/charts/alpha:1.0.0"}
	h.fails(1, "registry.internal:5000", show...)
	h.ok("registry", "login", "registry.internal:5000", "-u", "u", "-p", "p", "--plain-http")
	h.ok(show...)
}
