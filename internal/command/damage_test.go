package command

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// corrupt makes the record of a revision of web unreadable.
func (d *desk) corrupt(object string) {
	d.t.Helper()
	secrets := d.client.CoreV1().Secrets("shop")
	s, err := secrets.Get(d.t.Context(), object, metav1.GetOptions{})
	if err != nil {
		d.t.Fatal(err)
	}
	s.Data["release"] = []byte("garbage")
	if _, err := secrets.Update(d.t.Context(), s, metav1.UpdateOptions{}); err != nil {
		d.t.Fatal(err)
	}
}

// A history with a hole says so, and a newest record that can't be read comes with what to do about it.
func TestCorruptRecordsAreNamed(t *testing.T) {
	d := atDesk(t)
	d.must("install web ./web")
	d.must("upgrade web ./web --set text=two")
	d.corrupt("sh.helm.release.v1.web.v1")
	if a := d.must("history web"); !strings.HasPrefix(a.err, "Warning: the record of web revision 1 (Secret shop/sh.helm.release.v1.web.v1) can't be read: ") {
		t.Errorf("history says %q", a.err)
	}
	d.corrupt("sh.helm.release.v1.web.v2")
	for _, line := range []string{"history web", "status web", "upgrade web ./web", "get values web --revision 1"} {
		a := d.types(line)
		if a.code != exitError || !strings.Contains(a.err, "\nHint: restore it from a backup, or delete it: ") {
			t.Errorf("%s: exit code %d, %s", line, a.code, a.err)
		}
	}
}
