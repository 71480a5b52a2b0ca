//go:build cluster

package sources_test

import (
	"strings"
	"testing"
)

// Credentials for a path apply to what is below it, and to nothing else on their host; those of the
// longest path take precedence. u:p is right, x:y is wrong.
func TestCredentialsOfPaths(t *testing.T) {
	s := secureRegistry(t)
	h := newHome(t)
	h.env = append(h.env, "XDG_RUNTIME_DIR="+h.path("run"))
	h.ok("push", h.chartFile("alpha", "1.0.0", ""), "oci://"+s.Host+"/team/charts", "--ca-file", s.CAFile, "--username", "u", "--password", "p")
	const right, wrong = `{"auth":"dTpw"}`, `{"auth":"eDp5"}`
	for name, tc := range map[string]struct {
		auths string
		code  int
	}{
		"another path":                 {`"HOST/other":` + right, 11},
		"the beginning of a word":      {`"HOST/team/chart":` + right, 11},
		"this path":                    {`"HOST/team/charts":` + right, 0},
		"a path above it":              {`"HOST/team":` + right, 0},
		"the chart itself":             {`"HOST/team/charts/alpha":` + right + `,"HOST/team/charts":` + wrong, 0},
		"the longest":                  {`"HOST":` + wrong + `,"HOST/team":` + wrong + `,"HOST/team/charts":` + right, 0},
		"the longest, which is wrong":  {`"HOST":` + right + `,"HOST/team/charts":` + wrong, 11},
		"another path, and the host":   {`"HOST/other":` + wrong + `,"HOST":` + right, 0},
		"another path, and a URL":      {`"HOST/other":` + wrong + `,"https://HOST/v1/":` + right, 0},
		"the path of another registry": {`"HOST.example.com/team":` + right, 11},
	} {
		for _, file := range []string{".config/helm/registry/config.json", ".docker/config.json", "run/containers/auth.json"} {
			h.write(".config/helm/registry/config.json", "{}")
			h.write(".docker/config.json", "{}")
			h.write("run/containers/auth.json", "{}")
			h.write(file, `{"auths":{`+strings.ReplaceAll(tc.auths, "HOST", s.Host)+`}}`)
			// The order of a map is random, and used to be the order in which keys were tried.
			for range 3 {
				if r := h.k("show", "chart", "oci://"+s.Host+"/team/charts/alpha:1.0.0", "--ca-file", s.CAFile); r.code != tc.code {
					t.Fatalf("%s in %s: %+v, want %d", name, file, r, tc.code)
				}
			}
		}
	}
}
