package redact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/redact"
)

// A reference to a Secret is none: it is shown, and the digest covers it. Data that stands beside it is masked, misspelt, too.
func TestReferenceToSecretIsNoSecretData(t *testing.T) {
	with := func(name string) string {
		p := effective()
		body := p.Stages[1].Waves[0].Steps[2].Body
		body.Object["spec"] = map[string]any{"generate": map[string]any{
			"apiVersion": "v1", "kind": "Secret", "clone": map[string]any{"name": name}, "stringdata": map[string]any{"foo": "canary-one"},
		}}
		masked := redact.NewMask(p).Plan(p).Stages[1].Waves[0].Steps[2].Body.Object["spec"].(map[string]any)["generate"].(map[string]any)
		if got := fmt.Sprint(masked); !strings.Contains(got, name) || strings.Contains(got, "canary-one") {
			t.Errorf("%s is shown, want %s alone", got, name)
		}
		return redact.EffectDigest(p, nil)
	}
	if with("registry-one") == with("registry-two") {
		t.Error("references to two Secrets have the same digest")
	}
}
