package redact

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// A revision's description may quote what is secret in that revision, wherever it is
// stored; everything else in it stays as it is.
func TestARecordMaskHidesTheRevisionsSecrets(t *testing.T) {
	r := &release.Revision{
		Name: "web", Namespace: "shop", Version: 2,
		Manifest: "a: [broken\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: web-login}\n" +
			"data: {key: " + B64("canary-data") + "}\nstringData: {plain: canary-string, name: web-login}\n",
		Hooks: []release.Hook{{Hook: manifest.Hook{
			Manifest: "apiVersion: v1\nkind: Secret\nmetadata: {name: early}\nstringData: {key: canary-hook}\n",
		}}},
		Config: map[string]any{"auth": map[string]any{"password": "canary-value"}},
	}
	mask := NewRecordMask(r)
	for where, secret := range map[string]string{
		"data, decoded": "canary-data", "data, as it is sent": B64("canary-data"), "stringData": "canary-string",
		"a hook's": "canary-hook", "values": "canary-value",
	} {
		got := mask.Text(`Upgrade "web" failed: Secret/web-login: Invalid value: "` + secret + `": no`)
		if strings.Contains(got, secret) || !strings.Contains(got, `Upgrade "web" failed: Secret/web-login: Invalid value`) {
			t.Errorf("%s: %s", where, got)
		}
	}
}

// kubectl's copy of an object that is no Secret may have the password from before the last change:
// it is masked there, however short, and wherever else it occurs. So is what any other annotation has in a document.
func TestOldPasswordsInKubectlsCopyAreMasked(t *testing.T) {
	const long, short = "canary-of-old", "0ld"
	applied := `{"data":{"password":"` + long + `","token":"` + short + `","max":9007199254740993},"kind":"ConfigMap"}` + "\n"
	p := CanaryPlan()
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.ID == "d" {
			s.Before.SetAnnotations(map[string]string{lastApplied: applied, "note": "was " + long, "broken": "{"})
			s.After.SetAnnotations(map[string]string{lastApplied: "{", "other": applied})
		}
	})
	masked, err := json.Marshal(Plan(p).Document)
	if err != nil {
		t.Fatal(err)
	}
	text := string(masked)
	if strings.Contains(text, long) || strings.Contains(text, short) || !strings.Contains(text, `\"max\":9007199254740993`) {
		t.Errorf("%q or %q is shown, or more is lost:\n%s", long, short, text)
	}
}
