package redact_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/findings"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/plan"
)

// outputs returns all output formats.
func outputs() map[string]func(io.Writer, *plan.Document) error {
	all := map[string]func(io.Writer, *plan.Document) error{
		"text":      func(w io.Writer, p *plan.Document) error { return report.Text(w, p, report.TextOptions{}) },
		"text-full": func(w io.Writer, p *plan.Document) error { return report.Text(w, p, report.TextOptions{Full: true}) },
		"json":      report.JSON,
		"markdown":  func(w io.Writer, p *plan.Document) error { return report.Markdown(w, p, report.MarkdownOptions{}) },
		"mermaid":   report.Mermaid,
		"dot":       report.DOT,
		"html":      report.HTML,
		"azure":     func(w io.Writer, p *plan.Document) error { return findings.AzureAnnotations(w, p) },
	}
	for _, format := range findings.Formats() {
		all[format] = func(w io.Writer, p *plan.Document) error {
			return findings.Print(w, format, findings.Subject{Name: "shop/web"}, p)
		}
	}
	return all
}

// S36: no output format shows a secret, in any of its encodings.
func TestNoOutputShowsASecret(t *testing.T) {
	for name, output := range outputs() {
		t.Run(name, func(t *testing.T) {
			var open, redacted bytes.Buffer
			if err := output(&open, &redact.CanaryPlan().Document); err != nil {
				t.Fatal(err)
			}
			namesOnly := name == "mermaid" || name == "dot" || name == "verdict" || name == "dotenv"
			if !namesOnly && !shows(open.String(), redact.Canary) {
				t.Fatal("the plan itself does not show the canary: this test could not fail")
			}
			if err := output(&redacted, &redact.Plan(redact.CanaryPlan()).Document); err != nil {
				t.Fatal(err)
			}
			for _, value := range []string{redact.Canary, redact.Fledgling} {
				if shows(redacted.String(), value) {
					t.Errorf("%s is shown:\n%s", value, redacted.String())
				}
			}
		})
	}
}

// shows looks for a value as it is, escaped, and in anything that looks like base64.
func shows(text, value string) bool {
	quoted := redact.InJSON(value)
	for _, form := range []string{value, quoted, redact.B64(value), strings.TrimRight(redact.B64(value), "=")} {
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

// What templates have read from Secrets is masked wherever they put it.
func TestWhatTemplatesReadFromSecretsIsMasked(t *testing.T) {
	for name, output := range outputs() {
		var b bytes.Buffer
		if err := output(&b, &redact.Plan(redact.LookedUpPlan()).Document); err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"canary", redact.B64("u:canary&read")} {
			if strings.Contains(b.String(), secret) {
				t.Errorf("%s shows %s:\n%s", name, secret, b.String())
			}
		}
	}
	if got := redact.NewMask(redact.LookedUpPlan()).Text(`Invalid value: "canary\u0026read"`); strings.Contains(got, "canary") {
		t.Errorf("an error shows it: %s", got)
	}
}

// Nor does one show what the documents in ConfigMaps have under the names of credentials, however short it is.
func TestNoOutputShowsACredentialInADocument(t *testing.T) {
	files := map[string]string{
		"app.json": `{"db":{"password":"%s","token":"%s"},"level":"%s"}`,
		"app.yaml": "db:\n  password: %s\n  token: %s\nlevel: %s\n",
		"app.ini":  "[db]\npassword = %s\ntoken = %s\n[log]\nlevel = %s\n",
	}
	step := plan.Step{ID: "c", Op: plan.OpPatch, Object: manifest.ID{Kind: "ConfigMap", Namespace: "shop", Name: "web"}}
	object := func(values ...any) *unstructured.Unstructured {
		data := map[string]any{}
		for name, text := range files {
			data[name] = fmt.Sprintf(text, values...)
		}
		return &unstructured.Unstructured{Object: map[string]any{"kind": "ConfigMap", "data": data}}
	}
	step.Before, step.Body = object("canary-old", "zq1", "info"), object("canary-new", "zq2", "debug")
	step.After = step.Body
	for _, c := range fielddiff.Compare(step.Before.Object, step.After.Object) {
		step.Changes = append(step.Changes, plan.Change{Path: c.Path, From: c.From, To: c.To, Cause: plan.CauseChart})
	}
	p := redact.CanaryPlan()
	p.Stages = []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: []plan.Step{step}}}}}
	shown := redact.Plan(p)
	for name, output := range outputs() {
		var b bytes.Buffer
		if err := output(&b, &shown.Document); err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"canary-", "zq1", "zq2"} {
			if strings.Contains(b.String(), secret) {
				t.Errorf("%s shows %s:\n%s", name, secret, b.String())
			}
		}
		if name != "text" {
			continue
		}
		for _, want := range []string{`data\[app.json\] db.password +changed \(\w{4}… → \w{4}…\)`, `data\[app.yaml\] db.token +changed \(`, `data\[app.json\] level +info → debug`} {
			if !regexp.MustCompile(want).MatchString(b.String()) {
				t.Errorf("want %s in\n%s", want, b.String())
			}
		}
	}
}

// Redact and print a large release: a thousand objects, two hundred Secrets.
func BenchmarkRedactAndText(b *testing.B) {
	p := redact.CanaryPlan()
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
		if err := report.Text(io.Discard, &redact.Plan(p).Document, report.TextOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
