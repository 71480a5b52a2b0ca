package command

import (
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
