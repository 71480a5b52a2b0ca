package report

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

const (
	canary   = "cAnArY/s3cr3t+v4lue"
	fledging = "f1edging=b1rd&s3cr3t"
)

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// canaryPlan holds the canary in every place of a plan that has room for text.
func canaryPlan() *plan.Plan {
	secret := func(value string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Secret",
			"metadata": map[string]any{"name": "web", "namespace": "shop", "annotations": map[string]any{
				lastApplied: fmt.Sprintf(`{"data":{"k":%q}}`, b64(value)),
			}},
			"data":       map[string]any{"k": b64(value), "pin": b64("42")},
			"stringData": map[string]any{"plain": value, "json": fmt.Sprintf(`{"password": %q}`, value)},
		}}
	}
	deployment := func(value string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web"},
			"spec": map[string]any{"args": []any{"--token=" + value, value, "x" + value + "y"}, "env": []any{
				map[string]any{"name": "DSN", "value": "postgres://u:" + value + "@db/x"},
				map[string]any{"name": "B64", "value": b64("user:" + value)},
			}, "nested": map[string]any{value: "as a key"}},
		}}
	}
	change := func(path string) plan.Change {
		return plan.Change{Path: path, From: canary, To: fledging, Cause: plan.CauseValues, Detail: "from " + canary}
	}
	steps := []plan.Step{
		{
			ID: "s", Op: plan.OpPatch, Object: manifest.ID{Kind: "Secret", Namespace: "shop", Name: "web"},
			Body: secret(fledging), Before: secret(canary), After: secret(fledging),
			Patch: []byte(`{"data":{"k":"` + b64(fledging) + `"}}`), PatchType: types.MergePatchType,
			Changes: []plan.Change{
				{Path: "data.k", From: b64(canary), To: b64(fledging), Cause: plan.CauseValues},
				{Path: "stringData.plain", From: canary, To: fledging},
				{Path: "data", From: map[string]any{"k": b64(canary)}, To: map[string]string{"k": b64(fledging)}},
			},
			Why: "because of " + canary, Estimate: "it said " + fledging,
		},
		{
			ID: "d", Op: plan.OpPatch, Object: manifest.ID{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"},
			Body: deployment(fledging), Before: deployment(canary), After: deployment(fledging),
			Patch:     []byte(`[{"op":"replace","path":"/spec/x","value":"` + fledging + `"}]`),
			PatchType: types.JSONPatchType,
			Changes:   []plan.Change{change("spec.x"), change("spec." + canary), {Path: "spec.all", To: deployment(canary).Object}},
			Risk:      plan.RiskScaleDown, Why: "was " + canary,
		},
		{ID: "c", Op: plan.OpCreate, Object: manifest.ID{Kind: "ConfigMap", Namespace: "shop", Name: "web"}, Body: deployment(canary)},
		{ID: "r", Op: plan.OpRecord, Record: &plan.Record{Revision: 8, Status: "deployed", Description: canary}},
	}
	p := &plan.Plan{
		Operation: plan.Upgrade, Release: release.Key{Namespace: "shop", Name: "web"}, FromRevision: 7, ToRevision: 8,
		Found: "revision 7 failed: " + canary, Notes: "log in with " + canary,
		Options:  plan.Options{Description: canary, Labels: map[string]string{"a": canary}},
		Values:   []plan.Change{change("anything"), {Path: "text", From: "a\n" + canary + "\nb", To: fledging + "\n\n"}},
		Stages:   []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: steps}}}},
		Problems: []plan.Problem{{Blocking: true, What: "no " + canary, Do: "say " + fledging}, {What: b64(canary)}},
		Record:   &release.Revision{Manifest: canary},
	}
	p.Summary = summarize(p)
	return p
}

// S36: no form of output shows a secret, in any of its encodings.
func TestNoOutputShowsASecret(t *testing.T) {
	for name, output := range outputs(caseOptions{}) {
		t.Run(name, func(t *testing.T) {
			var open, redacted bytes.Buffer
			if err := output(&open, canaryPlan()); err != nil {
				t.Fatal(err)
			}
			namesOnly := name == "mermaid" || name == "dot"
			if !namesOnly && !shows(open.String(), canary) {
				t.Fatal("the plan itself does not show the canary: this test could not fail")
			}
			if err := output(&redacted, Redact(canaryPlan())); err != nil {
				t.Fatal(err)
			}
			for _, value := range []string{canary, fledging} {
				if shows(redacted.String(), value) {
					t.Errorf("%s is shown:\n%s", value, redacted.String())
				}
			}
		})
	}
}

// shows looks for a value as it is, escaped, and in anything that looks like base64.
func shows(text, value string) bool {
	quoted := inJSON(value)
	for _, form := range []string{value, quoted, b64(value), strings.TrimRight(b64(value), "=")} {
		if strings.Contains(text, form) {
			return true
		}
	}
	for _, word := range regexp.MustCompile(`[A-Za-z0-9+/]{12,}=*`).FindAllString(text, -1) {
		if inner, err := base64.StdEncoding.DecodeString(word); err == nil && word != string(inner) && shows(string(inner), value) {
			return true
		}
	}
	return false
}

// Redact must not touch what apply is going to send.
func TestRedactLeavesThePlanAlone(t *testing.T) {
	p := canaryPlan()
	Redact(p)
	if diff := cmp.Diff(canaryPlan(), p, cmp.AllowUnexported(release.Revision{})); diff != "" {
		t.Errorf("the plan was changed (-want +got):\n%s", diff)
	}
}

// Printing a redacted plan must not depend on how often it was redacted.
func TestRedactTwiceIsRedactOnce(t *testing.T) {
	once := Redact(canaryPlan())
	if diff := cmp.Diff(once, Redact(once)); diff != "" {
		t.Errorf("the second time differs (-once +twice):\n%s", diff)
	}
}

// Masking must not eat the plan: names, short values and words stay readable.
func TestRedactKeepsWhatIsPublic(t *testing.T) {
	p := canaryPlan()
	s := &p.Stages[0].Waves[0].Steps[0]
	s.Body.Object["stringData"] = map[string]any{"flag": "true", "port": "54321", "ns": "shop", "user": "postgres", "kind": "Deployment"}
	p.Found = "true 54321 shop postgresql:16 Deployment/web postgres"
	want := regexp.MustCompile(`^true 54321 shop postgresql:16 Deployment/web \(sensitive [0-9a-f]{4}…\)$`)
	if got := Redact(p).Found; !want.MatchString(got) {
		t.Errorf("got %q, want %s", got, want)
	}
}

// Equal secrets have equal tokens, other ones others, and other plans other ones.
func TestTokensTellEqualityOnly(t *testing.T) {
	p := Redact(canaryPlan())
	steps := p.Stages[0].Waves[0].Steps
	inData, inText, inValues := steps[0].Changes[0], steps[1].Changes[0], p.Values[0]
	if inData.From != inText.From || inText.From != inValues.From || inData.From == inData.To {
		t.Errorf("tokens differ: %v, %v, %v", inData, inText, inValues)
	}
	other := canaryPlan()
	other.Stages[0].Waves[0].Steps[0].Body.Object["stringData"].(map[string]any)["more"] = "one more secret"
	if got := Redact(other).Stages[0].Waves[0].Steps[0].Changes[0].From; got == inData.From {
		t.Errorf("the token %v does not depend on the other secrets", got)
	}
}

func TestCredentialNames(t *testing.T) {
	for name, want := range map[string]bool{
		"password": true, "rootPassword": true, "DB_PASSWORD": true, "password2": true, "apiKey": true, "api-key": true,
		"AWS_SECRET_ACCESS_KEY": true, "client_secret": true, "authToken": true, "tls.privateKey": true, "PGPASSWORD": true,
		"existingSecret": false, "imagePullSecrets": false, "secretName": false, "passwordKey": false, "tokenTTL": false,
		"secretKeyRef": false, "key": false, "image": false, "": false, "automountServiceAccountToken": true,
	} {
		if got := isCredential(name); got != want {
			t.Errorf("isCredential(%q) = %v", name, got)
		}
	}
}

// A patch stays what it is, but for the masked values.
func TestPatchIsMaskedInPlace(t *testing.T) {
	var patch struct{ Data map[string]string }
	step := Redact(canaryPlan()).Stages[0].Waves[0].Steps[0]
	if err := json.Unmarshal(step.Patch, &patch); err != nil {
		t.Fatal(err)
	}
	if !isToken(patch.Data["k"]) || patch.Data["k"] != step.Changes[0].To {
		t.Errorf("patch %s does not hold the token %v", step.Patch, step.Changes[0].To)
	}
}

// Redact and print a large release: a thousand objects, two hundred Secrets.
func BenchmarkRedactAndText(b *testing.B) {
	p := canaryPlan()
	wave := &p.Stages[0].Waves[0]
	secret, deployment := wave.Steps[0], wave.Steps[1]
	wave.Steps = nil
	for i := range 1000 {
		step := deployment
		if i%5 == 0 {
			step = secret
			step.Body = secret.Body.DeepCopy()
			step.Body.Object["stringData"] = map[string]any{"k": fmt.Sprintf("secret-%d-%d", i, i*i), "text": strings.Repeat(fmt.Sprintf("line %d\n", i), 50)}
		}
		step.ID, step.Object.Name = fmt.Sprint(i), fmt.Sprintf("n%d", i)
		wave.Steps = append(wave.Steps, step)
	}
	for b.Loop() {
		if err := Text(io.Discard, Redact(p), TextOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("postgres://u:p@h", "--password=x", canary)
	f.Add("://:@", "=", "aaaa")
	f.Fuzz(func(t *testing.T, text, flag, secret string) {
		s := newSecrets()
		s.add(secret)
		s.exempt(nil)
		m := newMasker(s, "")
		for _, in := range []string{text, flag, text + secret, flag + secret + text} {
			out := m.text(in)
			if isLong(secret) && !s.weak[secret] && !isToken(secret) && !isToken(in) &&
				strings.Contains(strings.NewReplacer(tokenOpen, "", tokenClose, "").Replace(out), secret) {
				t.Errorf("%q is still in %q", secret, out)
			}
			if !isClean(clean(out)) {
				t.Errorf("%q is not clean", clean(out))
			}
		}
	})
}
