//go:build cluster

package sources_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// A server's answers have exit codes of their own, whether it is a repository, a registry or a URL;
// what an index or a list of tags does not have is 1, as everything is with Helm.
func TestExitCodes(t *testing.T) {
	a, secret := repositoryA(t, sourcetest.Options{}), repositoryA(t, sourcetest.Options{User: "u", Password: "p"})
	forbidden := sourcetest.Serve(t, sourcetest.Options{Fault: func(w http.ResponseWriter, _ *http.Request, _ int) bool {
		w.WriteHeader(http.StatusForbidden)
		return true
	}})
	s, h := secureRegistry(t), newHome(t)
	h.ok("repo", "add", "a", a.URL)
	h.ok("registry", "login", s.Host, "-u", "u", "-p", "p", "--ca-file", s.CAFile)
	h.ok("push", h.chartFile("alpha", "1.0.0", ""), "oci://"+s.Host+"/charts")
	h.umbrella("um", "{name: alpha, version: ^1, repository: '@a'}")
	h.ok("dependency", "update", "um")
	h.umbrella("um", "{name: alpha, version: ^0, repository: '@a'}")
	h.umbrella("nope", "{name: nope, version: ^1, repository: '@a'}")
	for code, lines := range map[int][]string{
		10: {
			"pull " + a.URL + "/nope-1.0.0.tgz", "template web oci://" + s.Host + "/charts/nope", "pull oci://" + s.Host + "/charts/alpha --version 9.9.9",
			"template web x --repo " + a.URL + "/nowhere",
		},
		11: {
			"show chart alpha --repo " + secret.URL, "pull " + secret.URL + "/alpha-1.0.0.tgz", "repo add b " + secret.URL + " --username u --password x", "pull " + forbidden.URL + "/x.tgz",
			"pull oci://" + s.Host + "/charts/alpha --username u --password x", "push alpha-1.0.0.tgz oci://" + s.Host + "/charts --username u --password x",
		},
		12: {"dependency build um"},
		2:  {"dependency build um --check"},
		1: {
			"template web a/nope", "show chart a/alpha --version 9.9.9", "template web nope --repo " + a.URL, "pull oci://" + s.Host + "/charts/alpha --version ^9",
			"dependency update nope", "registry login " + s.Host + " -u u -p x", "template web nosuch", "template web x/alpha", "template web ./nope", "show chart ftp://h/x.tgz", "repo update x",
		},
	} {
		for _, line := range lines {
			h.fails(code, "Error: ", strings.Fields(line)...)
			if r := h.helm4(strings.Fields(line)...); r.code != 1 {
				t.Errorf("Helm: %s: %d", line, r.code)
			}
		}
	}
}
