package command

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestPageInsteadOfAnAnswer: where a proxy answers in the place of a server, with a page on which to log in, the
// error and its hint say so, whatever was asked for.
func TestPageInsteadOfAnAnswer(t *testing.T) {
	portal := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!DOCTYPE html><title>Sign in</title>")
	}))
	defer portal.Close()
	atDesk(t).must("package web")
	host := strings.TrimPrefix(portal.URL, "http://")
	for _, line := range []string{
		"list", "status web", "history web", "get values web", "plan web ./web", "install web ./web", "uninstall web", "unlock web",
		"template web ./web --validate", "repo add x URL", "search hub x --endpoint URL", "show chart web --repo URL", "show chart URL/web-1.0.0.tgz",
		"show chart oci://HOST/web", "show chart oci://HOST/web --version 1.0.0", "push web-1.0.0.tgz oci://HOST/charts",
		"registry login HOST -u bob -p secret", "template web ./web -f URL/values.yaml",
	} {
		t.Run(line, func(t *testing.T) {
			var out, errs bytes.Buffer
			p := newProgram(Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, "kubectl release")
			words := strings.Fields(strings.NewReplacer("URL", portal.URL, "HOST", host).Replace(line))
			code := p.main(t.Context(), nil, append([]string{"kubectl-release", "--server", portal.URL}, words...))
			if code != exitError || !strings.Contains(errs.String(), "a web page came instead of its answer") || !strings.Contains(errs.String(), "Hint: open the address in a browser") {
				t.Errorf("exit code %d\n%s%s", code, out.String(), errs.String())
			}
		})
	}
}
