//go:build cluster

package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// TestAnEditedPlanShowsWhatItDoes edits a saved plan word by word, in one place or
// in all of them, and corrects its checksum: either plan show prints something
// different, or apply refuses and writes nothing, or it does what was planned.
func TestAnEditedPlanShowsWhatItDoes(t *testing.T) {
	t.Parallel()
	chart := editableChart(t)
	r := reviewOf(t, chart)
	outcomes := map[string]int{}
	every := 1
	if !*soak {
		every = 3
	}
	for _, words := range [][2]string{
		{"innocent", "MALICIOUS"}, {"shop/good", "shop/evil"}, {"hook-succeeded", "hook-failed"}, {"pre-upgrade", "post-upgrade"}, {"before-hook-creation", "hook-failed"},
	} {
		places := strings.Count(r.content, words[0])
		if places < 2 {
			t.Fatalf("%q is %d times in the file", words[0], places)
		}
		for at := 0; at <= places; at += every { // the last one edits all of them
			outcome := r.tried(replaced(r.content, words, at))
			if outcome == "applied" {
				r = reviewOf(t, chart)
			}
			outcomes[outcome]++
			if t.Failed() {
				t.Fatalf("%s for number %d of %d %s", words[1], at, places, words[0])
			}
		}
	}
	t.Log(outcomes)
	if outcomes["refused"] == 0 || outcomes["shown"] == 0 {
		t.Error("the edits are too much alike")
	}
	if outcome := r.tried(r.content); outcome != "applied" {
		t.Errorf("the file as it was is %s", outcome)
	}
}

// review is an installed release, and an upgrade of it that was planned, saved and
// reviewed.
type review struct {
	witness
	file    string
	saved   []byte
	content string
	shown   string
	before  map[string]string
}

func reviewOf(t *testing.T, chart string) review {
	t.Helper()
	r := review{witness: witness{t: t, namespace: cluster.Namespace(t), release: "web"}, file: filepath.Join(t.TempDir(), "web.plan")}
	r.must("kubectl-release", "install", "web", chart)
	r.must("kubectl-release", "plan", "web", chart, "--set", "word=innocent,image=good", "--out", r.file)
	var err error
	if r.saved, err = os.ReadFile(r.file); err != nil {
		t.Fatal(err)
	}
	r.content, r.before = savedContent(t, r.saved), r.words()
	r.shown = withoutDigest(r.must("kubectl-release", "plan", "show", r.file, "--full", "--show-secrets").Stdout)
	return r
}

// tried returns what happens to the file with different content. The test fails if the
// plan does something other than what it shows.
func (r review) tried(content string) string {
	r.t.Helper()
	writeSaved(r.t, r.file, r.saved, content)
	switch shows := r.run("kubectl-release", "plan", "show", r.file, "--full", "--show-secrets"); {
	case shows.ExitCode != 0:
		return "unreadable"
	case withoutDigest(shows.Stdout) != r.shown:
		return "shown"
	}
	want, outcome := r.before, "refused"
	if r.run("kubectl-release", "apply", r.file).ExitCode == 0 {
		want, outcome = map[string]string{"ConfigMap/changed": "innocent", "ConfigMap/created": "innocent", "Job/migrate": "shop/good:1"}, "applied"
	}
	if now := r.words(); !maps.Equal(want, now) {
		r.t.Errorf("it shows the same, is %s, and the cluster holds %v, want %v", outcome, now, want)
	}
	return outcome
}

// withoutDigest returns what plan show prints without the digest of the file, which any edit
// would change.
func withoutDigest(shown string) string {
	return regexp.MustCompile(`plan [0-9a-f:sh]{12,}`).ReplaceAllString(shown, "plan DIGEST")
}

// words returns what the chart's objects contain, by kind and name.
func (w witness) words() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	for _, line := range strings.Fields(w.must("kubectl", "get", "configmaps,jobs", "--selector", "app=editable",
		"-o", `jsonpath={range .items[*]}{.kind}/{.metadata.name}={.data.word}{.spec.template.spec.containers[0].image}{"\n"}{end}`).Stdout) {
		name, word, _ := strings.Cut(line, "=")
		out[name] = word
	}
	return out
}

func savedContent(t *testing.T, saved []byte) string {
	t.Helper()
	var outer struct{ Content json.RawMessage }
	if err := json.Unmarshal(saved, &outer); err != nil {
		t.Fatal(err)
	}
	return string(outer.Content)
}

// writeSaved writes a saved plan with different content and the matching checksum.
func writeSaved(t *testing.T, file string, saved []byte, content string) {
	t.Helper()
	was := savedContent(t, saved)
	sum := func(s string) string { h := sha256.Sum256([]byte(s)); return hex.EncodeToString(h[:]) }
	edited := strings.Replace(strings.Replace(string(saved), was, content, 1), sum(was), sum(content), 1)
	if err := os.WriteFile(file, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
}

// replaced returns the text with occurrence number at (from 0) of the first word replaced by
// the second; if there is no such occurrence, it replaces all of them.
func replaced(text string, words [2]string, at int) string {
	parts := strings.Split(text, words[0])
	if at >= len(parts)-1 {
		return strings.Join(parts, words[1])
	}
	return strings.Join(parts[:at+1], words[0]) + words[1] + strings.Join(parts[at+1:], words[0])
}

// editableChart writes a chart with one resource that changes, one that is new, and two hooks.
func editableChart(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	clustertest.WriteFiles(t, folder, map[string]string{
		"Chart.yaml":  "apiVersion: v2\nname: editable\nversion: 1.0.0\n",
		"values.yaml": "word: first\nimage: good\n",
		"templates/all.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: changed, labels: {app: editable}}
data: {word: {{ .Values.word }}}
{{- if ne .Values.word "first" }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: created, labels: {app: editable}}
data: {word: {{ .Values.word }}}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: hooked
  labels: {app: editable}
  annotations: {helm.sh/hook: pre-upgrade, helm.sh/hook-delete-policy: "before-hook-creation,hook-succeeded"}
data: {word: {{ .Values.word }}}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: migrate
  labels: {app: editable}
  annotations: {helm.sh/hook: pre-upgrade}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: "shop/{{ .Values.image }}:1"}]
{{- end }}
`,
	})
	return folder
}

// A plan by a namespace's admin, who can't read kube-system, is still bound to its
// cluster: it is refused on another cluster with the same address and authority, and
// somebody with more permissions can apply it on the right one.
func TestAPlanOfANamespacesAdminIsBoundToItsCluster(t *testing.T) {
	t.Parallel()
	chart, folder := editableChart(t), t.TempDir()
	w := witness{t: t, namespace: cluster.Namespace(t), release: "web"}
	w.must("kubectl", "create", "rolebinding", "anna", "--clusterrole=admin", "--user=anna")
	file := filepath.Join(folder, "web.plan")
	w.must("kubectl-release", "plan", "web", chart, "--out", file, "--as", "anna")

	// The same file, as if it had been made on another cluster.
	saved, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	uid := w.must("kubectl", "get", "namespace", w.namespace, "-o", "jsonpath={.metadata.uid}").Stdout
	content := savedContent(t, saved)
	if strings.Count(content, `"namespaceUID":"`+uid+`"`) != 1 || strings.Contains(content, `"cluster":{"uid"`) {
		t.Fatalf("the plan says of its cluster: %.400s", content)
	}
	other := filepath.Join(folder, "other.plan")
	writeSaved(t, other, saved, strings.Replace(content, uid, "00000000-1111-2222-3333-444444444444", 1))
	refused := func(r clustertest.Result, says string) {
		t.Helper()
		if r.ExitCode != 4 || !strings.Contains(r.Stderr, says) {
			t.Errorf("exit code %d, want 4 and %q:\n%s", r.ExitCode, says, r.Stderr)
		}
	}
	refused(w.run("kubectl-release", "apply", other, "--as", "anna"), "namespace "+w.namespace+" had the UID 00000000-1111-2222-3333-444444444444 and has "+uid+" now")

	// Without any UID, the address alone does not identify the cluster.
	blind := strings.Replace(content, `"namespaceUID":"`+uid+`"`, `"namespaceUID":""`, 1)
	writeSaved(t, other, saved, strings.Replace(blind, `"ca":"sha256:`, `"ca":"sha256:0`, 1))
	refused(w.run("kubectl-release", "apply", other, "--as", "anna"), "its certificate is checked against another authority")

	w.must("kubectl-release", "apply", file) // the test's user can read both, and it is the same namespace
}
