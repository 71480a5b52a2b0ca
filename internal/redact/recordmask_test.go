package redact

import (
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
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
