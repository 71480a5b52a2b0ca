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
