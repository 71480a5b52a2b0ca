package redact_test

import (
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/redact"
)

// A reference to a Secret is none: it is shown, and the digest covers it.
func TestReferenceToSecretIsNoSecretData(t *testing.T) {
	with := func(name string) string {
		p := effective()
		body := p.Stages[1].Waves[0].Steps[2].Body
		body.Object["spec"] = map[string]any{"generate": map[string]any{"apiVersion": "v1", "kind": "Secret", "name": name}}
		masked := redact.NewMask(p).Plan(p).Stages[1].Waves[0].Steps[2].Body.Object["spec"].(map[string]any)["generate"].(map[string]any)
		if masked["name"] != name {
			t.Errorf("the name is %v, want %q", masked["name"], name)
		}
		return redact.EffectDigest(p, nil)
	}
	if with("registry-one") == with("registry-two") {
		t.Error("references to two Secrets have the same digest")
	}
}
