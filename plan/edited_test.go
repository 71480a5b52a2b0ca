package plan_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/plan"
)

// reviewedManifest and reviewedHooks are the outcome of the saved plans of the tests below,
// starting from storedManifest.
const (
	storedManifest = `apiVersion: v1
kind: ConfigMap
metadata: {name: same}
data: {key: same}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: changed}
data: {key: old}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: dropped}
`
	reviewedManifest = `apiVersion: v1
kind: ConfigMap
metadata: {name: same}
data: {key: same}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: changed}
data: {key: innocent}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "shop/good:1.0"}]}
`
	reviewedHooks = `apiVersion: batch/v1
kind: Job
metadata:
  name: migrate
  annotations: {helm.sh/hook: pre-upgrade, helm.sh/hook-weight: "3", helm.sh/hook-delete-policy: "before-hook-creation,hook-succeeded"}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: "shop/good:1.0"}]}}}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: notes
  annotations: {helm.sh/hook: post-upgrade}
data: {key: innocent}
`
	reviewedCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec: {group: example.com, scope: Namespaced, names: {kind: Widget, plural: widgets}}
`
)

// bench is a cluster with an installed release and what is planned for it.
type bench struct {
	testing.TB
	serverSide bool
}

func (b bench) parse(text string) []manifest.Object {
	b.Helper()
	objects, err := manifest.Parse(text)
	if err != nil {
		b.Fatal(err)
	}
	return qualified(objects)
}

func qualified(objects []manifest.Object) []manifest.Object {
	return manifest.Qualify(objects, "shop", func(gvk schema.GroupVersionKind) manifest.Scope {
		if gvk.Kind == "CustomResourceDefinition" {
			return manifest.ScopeCluster
		}
		return manifest.ScopeNamespaced
	})
}

// reviewed returns the plan that somebody has reviewed.
func (b bench) reviewed() *plan.Plan {
	b.Helper()
	classified, err := manifest.Classify([]manifest.File{{Path: "web/templates/hooks.yaml", Content: reviewedHooks}})
	if err != nil {
		b.Fatal(err)
	}
	p := &plan.Plan{Document: plan.Document{
		Operation: plan.Upgrade, Release: release.Key{Namespace: "shop", Name: "web"},
		Options: plan.Options{ServerSide: b.serverSide, Timeout: time.Minute, HistoryMax: 1, Atomic: true, CleanupOnFail: true, FieldManager: "kubectl-release", Labels: map[string]string{"team": "a"}},
		ChartTo: plan.ChartRef{Name: "web", Version: "1"},
	}, Bundle: plan.Bundle{Record: &release.Revision{Name: "web", Namespace: "shop", Version: 2, Chart: chartOf("1"), Manifest: reviewedManifest}, CRDs: b.parse(reviewedCRD)}}
	for _, h := range classified.Hooks {
		p.Record.Hooks = append(p.Record.Hooks, release.Hook{Hook: h})
	}
	made, err := b.fresh(p)
	if err != nil {
		b.Fatal(err)
	}
	return made
}

// fresh makes a saved plan again, as apply does: from its record,
// CRDs and options and from what is live.
func (b bench) fresh(p *plan.Plan) (*plan.Plan, error) {
	stored := b.parse(storedManifest)
	in := plan.Input{
		Operation: p.Operation, Release: p.Release, Options: p.Options, RollbackTo: p.RollbackTo,
		Cluster:     plan.Cluster{Server: "https://prod:6443", UID: "cluster"},
		History:     release.History{{Name: "web", Namespace: "shop", Version: 1, Chart: chartOf("1"), Manifest: storedManifest, Info: release.Info{Status: release.StatusDeployed}}},
		Stored:      plan.Stored([]plan.Sent{{Revision: 1, Objects: stored}}),
		Live:        map[manifest.ID]plan.Observation{plan.NamespaceID("shop"): plan.Observed(plan.NamespaceDoc("shop"))},
		Predictions: map[string]plan.Prediction{},
		Values:      []plan.Change{{Path: "tag", From: "0.9", To: "1.0", Cause: plan.CauseValues}},
	}
	for _, o := range stored {
		in.Live[o.ID] = plan.Observed(live(o))
	}
	if p.Record != nil {
		objects, err := p.Record.Objects()
		if err != nil {
			return nil, err
		}
		in.Target = &plan.Target{Record: p.Record, Objects: qualified(objects), CRDs: p.CRDs, Chart: p.ChartTo}
		for _, h := range p.Record.Hooks {
			parsed, err := h.Objects()
			if err != nil {
				return nil, err
			}
			in.Target.HookObjects = append(in.Target.HookObjects, qualified(parsed))
		}
	}
	p, _, err := plan.Build(in)
	return p, err
}

// done returns all that applying the plan does: what it sends and expects, in which
// order and with which options, and what it records. What only goes into the
// record (chart, values, notes, labels) is not included.
func done(t testing.TB, p *plan.Plan) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	write := func(v any) {
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	options := p.Options
	options.Sensitive = nil // affects only what is shown
	write([]any{p.Operation, p.Release, options})
	if p.OnFailure != nil && p.OnFailure.Rollback != nil {
		write([]any{p.OnFailure.Rollback.To, p.OnFailure.Rollback.KeepHistory})
	}
	p.AllSteps(func(stage plan.StageName, s *plan.Step) {
		if s.Op == plan.OpNone {
			return
		}
		write([]any{stage, s.ID, s.Op, s.When, s.Of, s.Object, s.APIVersion, s.Body, s.Patch, s.PatchType, s.MigrateOwnership, s.Clears, s.ForcesDrift, s.Expect.UID, s.Expect.Absent, s.Hook, s.Record})
	})
	if p.Record != nil {
		write([]any{p.Record.Key(), p.Record.Version})
	}
	return b.String()
}

func shown(t testing.TB, p *plan.Plan) string {
	t.Helper()
	var b bytes.Buffer
	document := p.Document
	document.PlanDigest = "" // any edit would show in it
	if err := report.Text(&b, &document, report.TextOptions{Width: 200, Full: true}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What a saved plan shows is what it does: after any edit of the file (with a corrected
// checksum) plan show prints something else, or apply refuses, or what is done stays
// the same.
func TestAnEditedPlanShowsWhatItDoes(t *testing.T) {
	const rounds = 300
	for _, serverSide := range []bool{false, true} {
		b := bench{TB: t, serverSide: serverSide}
		reviewed := b.reviewed()
		if reviewed.Blocked() {
			t.Fatalf("the plan is blocked: %+v", reviewed.Problems)
		}
		file, err := plan.Encode(reviewed)
		if err != nil {
			t.Fatal(err)
		}
		wasShown, wasDone := shown(t, reviewed), done(t, reviewed)
		outcomes := map[string]int{}
		for seed := range uint64(rounds) {
			r := rand.New(rand.NewPCG(seed, 2))
			edited, what := edit(t, r, file)
			outcome, differs := b.tried(edited, wasShown, wasDone)
			outcomes[outcome]++
			if differs != "" {
				t.Errorf("server-side %v, seed %d: %s: it shows the same, is applied, and does\n%s", serverSide, seed, what, differs)
			}
		}
		t.Logf("server-side %v: %v", serverSide, outcomes)
		if outcomes["stale"] == 0 || outcomes["shown"] == 0 || outcomes["the same"] == 0 {
			t.Error("the edits are too much alike")
		}
	}
}

// tried returns what happens with an edited file, and what it does differently if that is neither
// shown nor refused.
func (b bench) tried(edited []byte, wasShown, wasDone string) (outcome, differs string) {
	saved, err := plan.Decode(edited)
	if err != nil {
		return "unreadable", ""
	}
	if saved.Blocked() {
		return "blocked", ""
	}
	if saved.Record == nil && saved.Operation != plan.Uninstall {
		return "unreadable", ""
	}
	again, err := b.fresh(saved)
	switch {
	case err != nil:
		return "unreadable", ""
	case len(plan.Stale(saved, again)) > 0 || again.Blocked():
		return "stale", ""
	case shown(b, saved) != wasShown:
		return "shown", ""
	}
	if differs := cmp.Diff(strings.Split(wasDone, "\n"), strings.Split(done(b, again), "\n")); differs != "" {
		return "hidden", differs
	}
	return "the same", ""
}

// edit changes something in a saved plan at random and corrects its checksum.
func edit(t testing.TB, r *rand.Rand, file []byte) (edited []byte, what string) {
	t.Helper()
	var outer struct {
		Kind          string          `json:"kind"`
		FormatVersion string          `json:"formatVersion"`
		Sum           string          `json:"sum"`
		Content       json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(file, &outer); err != nil {
		t.Fatal(err)
	}
	content := outer.Content
	if r.IntN(5) == 0 { // replace a word everywhere, or in some places
		words := [][2]string{{"innocent", "MALICIOUS"}, {"good", "evil"}, {"hook-succeeded", "hook-failed"}, {"before-hook-creation,", ""}, {"pre-upgrade", "post-upgrade"}, {"kubectl-release", "somebody"}, {"migrate", "destroy"}}
		word := words[r.IntN(len(words))]
		parts := strings.Split(string(content), word[0])
		var b strings.Builder
		all := r.IntN(2) == 0
		for i, part := range parts {
			if i > 0 && (all || r.IntN(2) == 0) {
				b.WriteString(word[1])
			} else if i > 0 {
				b.WriteString(word[0])
			}
			b.WriteString(part)
		}
		content, what = []byte(b.String()), fmt.Sprintf("%q for %q", word[1], word[0])
	} else {
		var tree any
		if err := json.Unmarshal(content, &tree); err != nil {
			t.Fatal(err)
		}
		what = mutate(r, tree, "")
		var err error
		if content, err = json.Marshal(tree); err != nil {
			t.Fatal(err)
		}
	}
	sum := sha256.Sum256(content)
	outer.Sum, outer.Content = hex.EncodeToString(sum[:]), content
	edited, err := json.Marshal(outer)
	if err != nil {
		t.Fatal(err)
	}
	return edited, what
}

// mutate walks down to a random place of the tree and changes it.
func mutate(r *rand.Rand, node any, path string) string {
	switch node := node.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(node))
		if len(keys) == 0 {
			node["added"] = "x"
			return path + ": a field is added"
		}
		key := keys[r.IntN(len(keys))]
		switch below, leaf := node[key], isLeaf(node[key]); {
		case r.IntN(20) == 0:
			delete(node, key)
			return path + "." + key + " is removed"
		case leaf:
			node[key] = other(r, below)
			return fmt.Sprintf("%s.%s: %v for %v", path, key, node[key], below)
		default:
			return mutate(r, below, path+"."+key)
		}
	case []any:
		if len(node) == 0 {
			return path + ": nothing"
		}
		i, j := r.IntN(len(node)), r.IntN(len(node))
		switch {
		case len(node) > 1 && r.IntN(8) == 0:
			node[i], node[j] = node[j], node[i]
			return fmt.Sprintf("%s: %d and %d change places", path, i, j)
		case isLeaf(node[i]):
			was := node[i]
			node[i] = other(r, was)
			return fmt.Sprintf("%s[%d]: %v for %v", path, i, node[i], was)
		default:
			return mutate(r, node[i], fmt.Sprintf("%s[%d]", path, i))
		}
	}
	return path + ": nothing"
}

func isLeaf(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// other returns a different value to replace v.
func other(r *rand.Rand, v any) any {
	switch v := v.(type) {
	case string:
		for _, word := range [][2]string{{"innocent", "MALICIOUS"}, {"good", "evil"}, {"old", "new"}} {
			if strings.Contains(v, word[0]) {
				return strings.ReplaceAll(v, word[0], word[1])
			}
		}
		return []any{v + "x", "", "kept", "before-hook-creation", "hook-failed", "create", "delete", "none", nil}[r.IntN(9)]
	case float64:
		return v + 1
	case bool:
		return !v
	}
	return "x"
}
