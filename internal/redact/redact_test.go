package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

const (
	Canary    = "cAnArY/s3cr3t+v4lue"
	Fledgling = "f1edging=b1rd&s3cr3t"
)

func B64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// CanaryPlan returns a plan that holds the canary in every place that has room for text.
func CanaryPlan() *plan.Plan {
	secret := func(value string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Secret",
			"metadata": map[string]any{"name": "web", "namespace": "shop", "annotations": map[string]any{
				lastApplied: fmt.Sprintf(`{"data":{"k":%q}}`, B64(value)),
			}},
			"data":       map[string]any{"k": B64(value), "pin": B64("42")},
			"stringData": map[string]any{"plain": value, "json": fmt.Sprintf(`{"password": %q}`, value)},
		}}
	}
	deployment := func(value string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web"},
			"spec": map[string]any{"args": []any{"--token=" + value, value, "x" + value + "y"}, "env": []any{
				map[string]any{"name": "DSN", "value": "postgres://u:" + value + "@db/x"},
				map[string]any{"name": "B64", "value": B64("user:" + value)},
			}, "nested": map[string]any{value: "as a key"}},
		}}
	}
	change := func(path string) plan.Change {
		return plan.Change{Path: path, From: Canary, To: Fledgling, Cause: plan.CauseValues, Detail: "from " + Canary}
	}
	steps := []plan.Step{
		{
			ID: "s", Op: plan.OpPatch, Object: manifest.ID{Kind: "Secret", Namespace: "shop", Name: "web"},
			Body: secret(Fledgling), Before: secret(Canary), After: secret(Fledgling),
			Patch: []byte(`{"data":{"k":"` + B64(Fledgling) + `"}}`), PatchType: types.MergePatchType,
			Changes: []plan.Change{
				{Path: "data.k", From: B64(Canary), To: B64(Fledgling), Cause: plan.CauseValues},
				{Path: "stringData.plain", From: Canary, To: Fledgling},
				{Path: "data", From: map[string]any{"k": B64(Canary)}, To: map[string]string{"k": B64(Fledgling)}},
			},
			Why: "because of " + Canary, Estimate: "it said " + Fledgling,
		},
		{
			ID: "d", Op: plan.OpPatch, Object: manifest.ID{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"},
			Body: deployment(Fledgling), Before: deployment(Canary), After: deployment(Fledgling),
			Patch:     []byte(`{"spec":{"x":"` + Fledgling + `"}}`),
			PatchType: types.StrategicMergePatchType,
			Changes:   []plan.Change{change("spec.x"), change("spec." + Canary), {Path: "spec.all", To: deployment(Canary).Object}},
			Risk:      plan.RiskScaleDown, Why: "was " + Canary,
		},
		{ID: "c", Op: plan.OpCreate, Object: manifest.ID{Kind: "ConfigMap", Namespace: "shop", Name: "web"}, Body: deployment(Canary)},
		{ID: "r", Op: plan.OpRecord, Record: &plan.Record{Revision: 8, Status: "deployed", Description: Canary}},
	}
	p := &plan.Plan{Document: plan.Document{
		Operation: plan.Upgrade, Release: release.Key{Namespace: "shop", Name: "web"}, FromRevision: 7, ToRevision: 8,
		Found:    "revision 7 failed: " + Canary,
		Options:  plan.Options{Description: Canary, Labels: map[string]string{"a": Canary}},
		Values:   []plan.Change{change("anything"), {Path: "text", From: "a\n" + Canary + "\nb", To: Fledgling + "\n\n"}},
		Stages:   []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: steps}}}},
		Problems: []plan.Problem{{Blocking: true, What: "no " + Canary, Do: "say " + Fledgling, Fields: []string{"spec.nested[" + Canary + "]"}}, {What: B64(Canary)}},
		OnFailure: &plan.OnFailure{Stages: []plan.Stage{{Name: plan.StageRecord, Waves: []plan.Wave{{Steps: []plan.Step{
			{ID: "f", Op: plan.OpRecord, Record: &plan.Record{Revision: 8, Status: "failed", Description: "it said " + Canary}},
		}}}}}, Rollback: &plan.RollbackPreview{To: 7, Lasting: []plan.Lasting{{Step: "s", What: "spec." + Canary + " is immutable"}}}},
		NotUndone: []plan.Lasting{{Step: "s", What: "the API server refuses " + Fledgling}},
	}, Bundle: plan.Bundle{Notes: "log in with " + Canary, Record: &release.Revision{Manifest: Canary}}}
	p.Impact = plan.Impact{
		Images: []plan.ImageChange{{From: "x/" + Canary, To: "x/y:" + Fledgling}, {To: Canary}},
		Limits: []plan.LimitChange{{Container: Canary, Resource: "memory", From: Fledgling, To: Canary}},
		Access: []plan.AccessChange{
			{Change: plan.Changed, Gained: []plan.Grant{{Verbs: []string{Canary}, Resources: []string{Fledgling}, Names: []string{Canary}}}},
			{Change: plan.Created, Role: "Role/" + Canary, Subjects: []string{Fledgling}, Removed: []string{Canary}},
		},
		Volumes: []plan.VolumeChange{{Fate: plan.VolumeKept, Claims: []string{Canary}, From: Fledgling, To: Canary, Why: "whenDeleted: Retain"}},
		CRDs:    []plan.CRDChange{{Change: plan.Changed, Fields: 2, Tightens: []string{Canary}, Drops: []string{Fledgling}}},
	}
	p.Summary = plan.Summary{Create: 1, Patch: 2, Blocking: 1, Warnings: 1, Risks: plan.RiskCounts{ScaleDown: 1}}
	return p
}

// A secret that a template quotes, or the API server in an error, is masked like the
// plain one: with the same token.
func TestEscapedSecretsAreMasked(t *testing.T) {
	for _, secret := range []string{`canary&<aa"4711`, "canary\x01aaa4711", "canary\u00a0aaa 4711", `Canary"é\x<b>&4711`, "canary\nof two 'lines'"} {
		p := CanaryPlan()
		p.Stages[0].Waves[0].Steps[0].Body.Object["stringData"] = map[string]any{"k": secret}
		m := NewMask(p)
		token := m.Text(secret)
		if !IsToken(token) {
			t.Errorf("%q: %s", secret, token)
		}
		for _, form := range []string{
			inner(strconv.Quote(secret)), inner(strconv.QuoteToASCII(secret)), InJSON(secret), html.EscapeString(secret),
			template.JSEscapeString(secret), url.QueryEscape(secret), url.PathEscape(secret), B64(secret), inner(strconv.Quote(InJSON(secret))),
			strings.ReplaceAll(secret, "'", `'\''`), strings.ReplaceAll(secret, "\n", "\n    "), url.QueryEscape(B64(secret)), hex.EncodeToString([]byte(secret)),
			strings.ToUpper(secret), strings.ToLower(secret), url.QueryEscape(strings.ToUpper(secret)), B64(strings.ToLower(secret)),
		} {
			if got, want := m.Text(`Invalid value: "`+form+`"`), `Invalid value: "`+token+`"`; got != want {
				t.Errorf("%s: %s, want %s", form, got, want)
			}
		}
		if got := m.Text(B64("user:" + secret)); !IsToken(got) {
			t.Errorf("within base64: %s", got)
		}
	}
}

// Two secrets that differ in case only are two; a short word is no secret in another case.
func TestSecretsThatDifferInCase(t *testing.T) {
	p := CanaryPlan()
	p.Stages[0].Waves[0].Steps[0].Body.Object["stringData"] = map[string]any{"a": "s3cr3t-canary", "b": "S3CR3T-CANARY", "c": "viewer"}
	m := NewMask(p)
	if a, b := m.Text("s3cr3t-canary"), m.Text("S3CR3T-CANARY"); !IsToken(a) || !IsToken(b) || a == b {
		t.Errorf("%s and %s", a, b)
	}
	if got := m.Text("rev=S3cr3t-Canary role=VIEWER"); got != "rev=S3cr3t-Canary role=VIEWER" {
		t.Error(got)
	}
}

func inner(quoted string) string { return quoted[1 : len(quoted)-1] }

// Redact must not touch what apply is going to send.
func TestRedactLeavesThePlanAlone(t *testing.T) {
	p := CanaryPlan()
	Plan(p)
	if diff := cmp.Diff(CanaryPlan(), p, cmp.AllowUnexported(release.Revision{})); diff != "" {
		t.Errorf("the plan was changed (-want +got):\n%s", diff)
	}
}

// Printing a redacted plan must not depend on how often it was redacted.
func TestRedactTwiceIsRedactOnce(t *testing.T) {
	once := Plan(CanaryPlan())
	if diff := cmp.Diff(once, Plan(once)); diff != "" {
		t.Errorf("the second time differs (-once +twice):\n%s", diff)
	}
}

// Masking must not eat the plan: names, short values and words stay readable.
func TestRedactKeepsWhatIsPublic(t *testing.T) {
	p := CanaryPlan()
	s := &p.Stages[0].Waves[0].Steps[0]
	s.Body.Object["stringData"] = map[string]any{"flag": "true", "port": "54321", "ns": "shop", "user": "postgres", "kind": "Deployment"}
	p.Found = "true 54321 shop postgresql:16 Deployment/web postgres"
	want := regexp.MustCompile(`^true 54321 shop postgresql:16 Deployment/web \(sensitive [0-9a-f]{4}…\)$`)
	if got := Plan(p).Found; !want.MatchString(got) {
		t.Errorf("got %q, want %s", got, want)
	}
}

// Data of a Secret is one under any name: "stringdata" is a misspelt stringData.
func TestMisspeltDataIsMasked(t *testing.T) {
	for _, key := range []string{"stringdata", "Data", "other", ""} {
		secret := map[string]any{"apiVersion": "v1", "kind": "Secret", key: map[string]any{"conf": Canary}}
		step := plan.Step{
			Object: manifest.ID{Kind: "Secret", Name: "web"}, Patch: []byte(`{"` + key + `":{"conf":"` + Canary + `"}}`),
			Body:    &unstructured.Unstructured{Object: secret},
			Changes: []plan.Change{{Path: jsontree.Join(jsontree.Join("", key), "conf"), To: Canary}, {To: secret}},
		}
		p := &plan.Plan{Document: plan.Document{Found: Canary, Stages: []plan.Stage{{Waves: []plan.Wave{{Steps: []plan.Step{step}}}}}}}
		if got, err := json.Marshal(Plan(p).Document); err != nil || strings.Contains(string(got), Canary) {
			t.Errorf("%q, error %v:\n%s", key, err, got)
		}
	}
}

// What is not searched for elsewhere, since it is short or a word, is masked in its Secret all the same: in the object,
// in kubectl's copy, in the patch and in the changes, one by one or all at once. So is what a pattern or its name makes
// a secret.
func TestShortValuesOfASecretAreMaskedInIt(t *testing.T) {
	secret := func(pin, flag string) map[string]any {
		return map[string]any{
			"kind": "Secret", "data": map[string]any{"pin": B64(pin)}, "stringData": map[string]any{"flag": flag},
			"metadata": map[string]any{"annotations": map[string]any{lastApplied: `{"stringData":{"flag":"` + flag + `"}}`}},
		}
	}
	step := plan.Step{
		Object: manifest.ID{Kind: "Secret", Name: "web"}, Patch: []byte(`{"data":{"pin":"` + B64("42") + `"},"stringData":{"flag":"true"}}`),
		Body: &unstructured.Unstructured{Object: secret("42", "true")}, Before: &unstructured.Unstructured{Object: secret("41", "false")},
		Changes: []plan.Change{
			{Path: "data.pin", From: B64("41"), To: B64("42")},
			{Path: "stringData.flag", From: "false", To: "true"},
			{Path: "data", To: map[string]any{"pin": B64("42")}},
			{To: secret("42", "true")},
			{Path: "spec.flag", From: "false", To: "true", Sensitive: true},
			{Path: "spec.password", From: "false", To: "true"},
		},
	}
	p := &plan.Plan{Document: plan.Document{Stages: []plan.Stage{{Waves: []plan.Wave{{Steps: []plan.Step{step}}}}}}}
	masked := Plan(p).Stages[0].Waves[0].Steps[0]
	c := masked.Changes
	for name, shown := range map[string]any{
		"object": masked.Body.Object, "object before": masked.Before.Object, "patch": string(masked.Patch),
		"data": masked.Changes[2].To, "whole": masked.Changes[3].To, "one by one": []any{c[0].From, c[0].To, c[1].From, c[1].To},
		"sensitive": []any{c[4].From, c[4].To}, "by its name": []any{c[5].From, c[5].To},
	} {
		text := fmt.Sprint(shown)
		for _, value := range []string{B64("41"), B64("42"), "true", "false"} {
			if strings.Contains(text, value) {
				t.Errorf("%s shows %q: %s", name, value, text)
			}
		}
	}
	if c[1].From == c[1].To || !c[1].Sensitive {
		t.Errorf("the change is not seen: %v", c[1])
	}
}

// A Secret in another object, or in a text of one, is masked like one that is applied itself.
func TestSecretsInOtherObjects(t *testing.T) {
	secret := map[string]any{"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"license": B64("canary-1"), "pin": B64("42")}, "stringData": map[string]any{"flag": "canary 2"}}
	text := "apiVersion: v1\nkind: Secret\nstringData:\n  foo: canary 3\ndata: {bar: " + B64("canary-4") + "}\n"
	object := map[string]any{"kind": "ManifestWork", "manifests": []any{secret, map[string]any{"kind": "ConfigMap", "data": map[string]any{"x.yaml": text}}}}
	m := NewValuesMask(object, nil)
	got := fmt.Sprint(m.Tree(object), m.Text(" canary-1 canary 2 canary 3 canary-4"))
	for _, shown := range []string{"canary", B64("canary-1"), B64("canary-4"), B64("42")} {
		if strings.Contains(got, shown) {
			t.Errorf("%s is shown: %s", shown, got)
		}
	}
}

// Equal secrets have equal tokens, different ones different tokens, and tokens differ
// between plans.
func TestTokensTellEqualityOnly(t *testing.T) {
	p := Plan(CanaryPlan())
	steps := p.Stages[0].Waves[0].Steps
	inData, inText, inValues := steps[0].Changes[0], steps[1].Changes[0], p.Values[0]
	if inData.From != inText.From || inText.From != inValues.From || inData.From == inData.To {
		t.Errorf("tokens differ: %v, %v, %v", inData, inText, inValues)
	}
	other := CanaryPlan()
	other.Stages[0].Waves[0].Steps[0].Body.Object["stringData"].(map[string]any)["more"] = "one more secret"
	if got := Plan(other).Stages[0].Waves[0].Steps[0].Changes[0].From; got == inData.From {
		t.Errorf("the token %v does not depend on the other secrets", got)
	}
}

// A patch stays what it is, except for the masked values.
func TestPatchIsMaskedInPlace(t *testing.T) {
	var patch struct{ Data map[string]string }
	step := Plan(CanaryPlan()).Stages[0].Waves[0].Steps[0]
	if err := json.Unmarshal(step.Patch, &patch); err != nil {
		t.Fatal(err)
	}
	if !IsToken(patch.Data["k"]) || patch.Data["k"] != step.Changes[0].To {
		t.Errorf("patch %s does not hold the token %v", step.Patch, step.Changes[0].To)
	}
}

func FuzzText(f *testing.F) {
	f.Add("postgres://u:p@h", "--password=x", Canary)
	f.Add("://:@", "=", "aaaa")
	f.Add("password: x\ntoken = y", `{"password":"\"`, "a\nb")
	f.Add("0", "", " 0000000") // space around a secret does not make it long
	f.Fuzz(func(t *testing.T, text, flag, secret string) {
		s := newSecrets()
		s.add(secret)
		s.exempt(nil)
		m := newMask(s, "")
		for _, in := range []string{text, flag, text + secret, flag + secret + text} {
			for _, out := range []string{m.Text(in), m.text(in, false)} {
				if isLong(strings.TrimSpace(secret)) && !s.weak[secret] && !IsToken(secret) && !IsToken(in) &&
					strings.Contains(strings.NewReplacer(tokenOpen, "", tokenClose, "").Replace(out), secret) {
					t.Errorf("%q is still in %q", secret, out)
				}
			}
		}
	})
}

func InJSON(s string) string {
	quoted, err := json.Marshal(s)
	if err != nil {
		return s
	}
	return strings.Trim(string(quoted), `"`)
}

// A log may show single lines of a secret file. The long ones are hidden, but not what many files have:
// short ones, and comments.
func TestLinesOfASecretFile(t *testing.T) {
	m := NewValuesMask(nil, nil, []byte("# Managed by the platform team\nlisten 8080;\nrequirepass s3cr3t and more\nkey 4711\n"))
	for line, hidden := range map[string]bool{
		"requirepass s3cr3t and more": true, "listen 8080;": false, "# Managed by the platform team": false,
		"key 4711": false, "requirepass s3cr3t": false,
	} {
		if got := m.Text("it read\n      | " + line); strings.Contains(got, line) == hidden {
			t.Errorf("%q, want it hidden: %v", got, hidden)
		}
	}
}

// An object without secrets is looked at once, by a mask and all its spellings; one of which the step says that it is a
// Secret is masked nevertheless.
func TestCleanObjectsAreShared(t *testing.T) {
	p := CanaryPlan()
	steps := p.Stages[0].Waves[0].Steps
	clean := &unstructured.Unstructured{Object: map[string]any{"kind": "ConfigMap", "data": map[string]any{"k": "v"}}}
	steps[2].Body, steps[1].Before, steps[0].Before = clean, clean, clean
	m := NewMask(p)
	m.EffectDigest(p, nil)
	if _, known := m.clean.Load(clean); !known {
		t.Error("the object is not remembered")
	}
	masked := m.Plan(p).Stages[0].Waves[0].Steps
	if masked[2].Body != clean || masked[1].Before != clean {
		t.Error("the object is copied")
	}
	if masked[1].Body == steps[1].Body || fmt.Sprint(masked[0].Before.Object["data"]) == fmt.Sprint(clean.Object["data"]) {
		t.Error("an object with secrets is shown")
	}
}
