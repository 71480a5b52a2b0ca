package command

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/release"
)

// corrupt replaces the record of a revision of web.
func (d *desk) corrupt(object, record string) {
	d.t.Helper()
	secrets := d.client.CoreV1().Secrets("shop")
	s, err := secrets.Get(d.t.Context(), object, metav1.GetOptions{})
	if err != nil {
		d.t.Fatal(err)
	}
	s.Data["release"] = []byte(record)
	if _, err := secrets.Update(d.t.Context(), s, metav1.UpdateOptions{}); err != nil {
		d.t.Fatal(err)
	}
}

// Labels have to be those that an object of the cluster can have, where the record is one. The value null removes a
// label, and needs no valid key.
func TestLabelsOfRecords(t *testing.T) {
	d := atDesk(t)
	for label, why := range map[string]string{
		"a:b=shop": `"a:b" can't be the key of a label: `, "team=a:b": `"a:b" can't be the value of a label: `,
		"owner=null": `"owner" is reserved for the record itself`,
	} {
		if a := d.types("install web ./web --labels " + label); a.code != exitError || !strings.Contains(a.err, why) {
			t.Errorf("%s: exit code %d\n%s", label, a.code, a.err)
		}
	}
	d.wroteNothing()
	d.must("plan web ./web --labels a:b=null")
	t.Setenv("HELM_DRIVER", "memory") // as in Helm's tables, labels are what one likes
	d.must("plan web ./web --labels a:b=c:d")
}

// A history with a hole says so, and a newest record that can't be read comes with what to do about it.
func TestCorruptRecordsAreNamed(t *testing.T) {
	d := atDesk(t)
	d.must("install web ./web")
	d.must("upgrade web ./web --set text=two")
	d.corrupt("sh.helm.release.v1.web.v1", "garbage")
	if a := d.must("history web"); !strings.HasPrefix(a.err, "Warning: the record of web revision 1 (Secret shop/sh.helm.release.v1.web.v1) can't be read: ") {
		t.Errorf("history says %q", a.err)
	}
	d.corrupt("sh.helm.release.v1.web.v2", "garbage")
	for _, line := range []string{"history web", "status web", "upgrade web ./web", "get values web --revision 1"} {
		a := d.types(line)
		if a.code != exitError || !strings.Contains(a.err, "\nHint: restore it from a backup, or delete it: ") {
			t.Errorf("%s: exit code %d, %s", line, a.code, a.err)
		}
	}
}

// A record that is larger than what is read here is not to be deleted: Helm can read it.
func TestRecordsBeyondTheLimitsAreLeftToHelm(t *testing.T) {
	d := atDesk(t)
	d.must("install web ./web")
	d.corrupt("sh.helm.release.v1.web.v1", base64.StdEncoding.EncodeToString(fmt.Appendf(nil,
		`{"name":"web","namespace":"shop","version":1,"info":{"status":"deployed"},"chart":{},"config":{"a":[%s0]}}`, strings.Repeat("0,", release.MaxEntries))))
	for _, line := range []string{"status web", "upgrade web ./web"} {
		a := d.types(line)
		if a.code != exitError || !strings.Contains(a.err, "\nHint: Helm, which has no such limit, can read it\n") {
			t.Errorf("%s: exit code %d, %s", line, a.code, a.err)
		}
	}
}
