//go:build cluster

package sources_test

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// What docs/sources.md says about Helm and no other check shows in passing.

// Credentials: Helm reads its own file and Docker's, and uses the helpers that they name. It ignores
// Podman's file and netrc.
func TestHelmsCredentials(t *testing.T) {
	s := secureRegistry(t)
	ref := "oci://" + s.Host + "/charts/alpha"
	const auth = `{"auth":"dTpw"}` // u:p
	for name, tc := range map[string]struct {
		files map[string]string
		helms bool
	}{
		"Docker's file":          {map[string]string{".docker/config.json": `{"auths":{"` + s.Host + `":` + auth + `}}`}, true},
		"Docker's helper":        {map[string]string{".docker/config.json": `{"credHelpers":{"` + s.Host + `":"test"}}`}, true},
		"Docker's store":         {map[string]string{".docker/config.json": `{"credsStore":"test"}`}, true},
		"a path in Docker's":     {map[string]string{".docker/config.json": `{"auths":{"` + s.Host + `/charts":` + auth + `}}`}, true},
		"Podman's file":          {map[string]string{"run/containers/auth.json": `{"auths":{"` + s.Host + `":` + auth + `}}`}, false},
		"Helm's own, its helper": {map[string]string{".config/helm/registry/config.json": `{"credsStore":"test"}`}, true},
	} {
		h := newHome(t)
		helper := h.write("bin/docker-credential-test", "#!/bin/sh\nread host\necho '{\"ServerURL\":\"\",\"Username\":\"u\",\"Secret\":\"p\"}'\n")
		must(t, os.Chmod(helper, 0o755))
		h.env = append(h.env, "PATH="+h.path("bin")+":"+os.Getenv("PATH"), "XDG_RUNTIME_DIR="+h.path("run"))
		h.ok("push", h.chartFile("alpha", "1.0.0", ""), "oci://"+s.Host+"/charts", "--ca-file", s.CAFile, "--username", "u", "--password", "p")
		for file, text := range tc.files {
			h.write(file, text)
		}
		if r := h.helm4("show", "chart", ref, "--ca-file", s.CAFile); (r.code == 0) != tc.helms {
			t.Errorf("%s: %+v", name, r)
		}
		if r := h.k("show", "chart", ref, "--ca-file", s.CAFile); r.code != 0 {
			t.Errorf("%s, ours: %+v", name, r)
		}
	}
	repository := sourcetest.Serve(t, sourcetest.Options{TLS: true, User: "u", Password: "p"})
	repository.Publish(t, map[string][]string{"alpha": {"1.0.0"}})
	h := newHome(t)
	h.write(".netrc", "machine "+strings.TrimPrefix(repository.URL, "https://")+" login u password p\n")
	args := []string{"show", "chart", "alpha", "--repo", repository.URL, "--ca-file", repository.CAFile}
	if r := h.helm4(args...); r.code != 1 || !strings.Contains(r.err, "401") {
		t.Errorf("netrc: %+v", r)
	}
	h.ok(args...)
}

// Retries: Helm retries a request to a registry, unless a TLS flag is given, and never one to a
// repository.
func TestHelmsRepeatedRequests(t *testing.T) {
	r, h := plainRegistry(t), newHome(t)
	h.ok("push", h.chartFile("alpha", "1.0.0", ""), "oci://"+r.Host+"/charts")
	busyOnce := func(w http.ResponseWriter, n int) bool {
		if n == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return n == 0
	}
	for _, tls := range []bool{false, true} {
		front := sourcetest.Serve(t, sourcetest.Options{TLS: tls, Fault: func(w http.ResponseWriter, q *http.Request, n int) bool {
			if !strings.Contains(q.URL.Path, "/manifests/") || !busyOnce(w, n) {
				forward(w, q, r.Host)
			}
			return true
		}})
		_, host, _ := strings.Cut(front.URL, "://")
		args := []string{"show", "chart", "oci://" + host + "/charts/alpha", "--version", "1.0.0", "--plain-http"}
		if tls {
			args = append(args[:len(args)-1], "--ca-file", front.CAFile)
		}
		if got := newHome(t).helm4(args...); (got.code == 0) == tls {
			t.Errorf("TLS %v: %+v", tls, got)
		}
	}
	server := repositoryA(t, sourcetest.Options{Fault: func(w http.ResponseWriter, _ *http.Request, n int) bool { return busyOnce(w, n) }})
	if got := newHome(t).helm4("repo", "add", "a", server.URL); got.code != 1 || !strings.Contains(got.err, "503") {
		t.Errorf("%+v", got)
	}
	if asked := server.Asked(); !slices.Equal(asked, []string{"GET /index.yaml Service Unavailable"}) {
		t.Errorf("Helm asked %q", asked)
	}
}

// What Helm lacks: it does not know these commands and flags, and it ignores sources.yaml.
func TestWhatHelmHasNot(t *testing.T) {
	h := newHome(t)
	for says, lines := range map[string][][]string{
		"unknown command": {{"plan", "web", "x"}, {"chart", "bundle", "x"}, {"cache", "list"}, {"cache", "prune"}},
		"unknown flag": {
			{"template", "x", "--offline"},
			{"list", "--outdated"},
			{"show", "chart", "x", "--tag", "latest"},
			{"dependency", "build", "x", "--check"},
			{"dependency", "update", "x", "--recursive"},
			{"package", "x", "--check"},
			{"push", "x", "oci://x", "--force"},
			{"install", "x", "x", "--verify-key", "x"},
			{"install", "x", "x", "--certificate-identity", "x"},
		},
	} {
		for _, line := range lines {
			if r := h.helm4(line...); r.code == 0 || !strings.Contains(r.err, says) {
				t.Errorf("%q: %+v", line, r)
			}
		}
	}
	if r := h.helm4("search", "oci://127.0.0.1:1/x"); !strings.Contains(r.out, "Available Commands:") || strings.Contains(r.out, "oci") {
		t.Errorf("search in a registry is not its help: %+v", r)
	}
	from, mirror := repositoryA(t, sourcetest.Options{}), repositoryA(t, sourcetest.Options{})
	h.write(".config/helm/kubectl-release/sources.yaml", "mirrors:\n- {prefix: "+from.URL+"/, to: "+mirror.URL+"/}\n")
	args := []string{"show", "chart", "alpha", "--repo", from.URL}
	h.helm(args...)
	if len(from.Asked()) == 0 || len(mirror.Asked()) != 0 {
		t.Error("Helm has asked the mirror")
	}
	h.ok(args...)
	if len(from.Asked()) != 0 || len(mirror.Asked()) == 0 {
		t.Error("ours has not")
	}
}
