package command

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// An error of a chart that quotes a value of an earlier revision does not show it.
func TestErrorsHideReusedValues(t *testing.T) {
	d := atDesk(t)
	d.must("install web ./web --set password=canary-0815")
	d.file("web/templates/all.yaml", `{{ fail (printf "the password is %s" .Values.password) }}`)
	for _, line := range []string{"plan web ./web", "upgrade web ./web --reuse-values"} {
		a := d.types(line)
		if a.code != exitError || !strings.Contains(a.err, "the password is (sensitive ") || strings.Contains(a.out+a.err, "canary") {
			t.Errorf("%s: exit code %d\n%s%s", line, a.code, a.out, a.err)
		}
	}
}

// With preserveValues, a chart may quote a value that only the record has.
func TestErrorsOfASetHideReusedValues(t *testing.T) {
	d := atDesk(t)
	d.must("install web ./web --set password=canary-0815")
	d.helmRelease("upgrade: {preserveValues: true}, values: {more: 1}", "sha256:1")
	d.file("web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.1.0}")
	d.file("web/templates/all.yaml", `{{ fail (printf "the password is %s" .Values.password) }}`)
	for _, output := range []string{"text", "json", "markdown"} {
		a := d.types("plan many release.yaml -o " + output)
		if !strings.Contains(strings.Join(strings.Fields(a.out), " "), "the password is (sensitive ") || strings.Contains(a.out+a.err, "canary") {
			t.Errorf("-o %s: %s%s", output, a.out, a.err)
		}
	}
}

// A newer chart that quotes a value of the release it can't upgrade.
func TestOutdatedHidesReusedValues(t *testing.T) {
	d := atDesk(t)
	files := http.FileServer(http.Dir("."))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("If-Modified-Since") // the test takes less than the second that it has as a unit
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	publish := func() {
		d.must("package ./web")
		d.must("repo index . --url " + server.URL)
	}
	publish()
	d.must("repo add stable " + server.URL)
	d.must("install web stable/web --set password=canary-0815")
	d.file("web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.1.0}")
	d.file("web/templates/all.yaml", `{{ fail (printf "the password is %s" .Values.password) }}`)
	publish()
	d.must("repo update")
	for _, output := range []string{"table", "json"} {
		a := d.must("list --outdated --plan -o " + output)
		if !strings.Contains(a.out, "the password is (sensitive ") || strings.Contains(a.out+a.err, "canary") {
			t.Errorf("-o %s: %s%s", output, a.out, a.err)
		}
	}
}

// Events, too, hide passwords in URLs before there are values.
func TestEventsHidePasswordsInReferences(t *testing.T) {
	a := atDesk(t).types("install web oci://ci:canary/pw@127.0.0.1:1/x -o json")
	if text, _ := a.summary(t)["error"].(string); text == "" || strings.Contains(a.out+a.err, "canary") {
		t.Errorf("%s%s", a.out, a.err)
	}
}
