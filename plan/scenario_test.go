package plan_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/objecttest"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/plan"
)

var update = flag.Bool("update", false, "rewrite the expected plans in testdata")

// TestScenarios builds a plan for every file of testdata. A file's first line
// says why the case exists; its sections are
//
//	setup      YAML: operation, options, history, pending, values, unknown and unavailable kinds,
//	           refusals, a missing or terminating namespace, the record's size
//	stored.N   what revision N sent
//	hooks.N    the hooks of revision N
//	live       objects in the cluster that carry the release's ownership
//	foreign    objects in the cluster as they are
//	unreadable objects that may not be looked at
//	target     what the chart says now, hooks included
//	crds       what crds/ holds
//	quotas     the namespace's ResourceQuotas
//	policy     a policy file
//	plan       the printed plan that is expected
//	steps      if it is there, all steps, what is not undone, and behind a line "on failure" the failure path
func TestScenarios(t *testing.T) {
	objecttest.Cases(t, "testdata/*.txtar", 60, func(t *testing.T, file string, archive *txtar.Archive) {
		s := scenario{t: t, sections: objecttest.Sections(archive)}
		built := s.plan()
		destructionsFound(t, built)
		got := map[string]string{"plan": printed(t, built), "steps": steps(built)}
		if *update {
			s.rewrite(file, archive, got)
			return
		}
		if diff := cmp.Diff(s.sections["plan"], got["plan"]); diff != "" {
			t.Errorf("the plan differs (-want +got):\n%s\n%s", diff, got["plan"])
		}
		if want, given := s.sections["steps"]; given && want != got["steps"] {
			t.Errorf("the steps differ (-want +got):\n%s", cmp.Diff(want, got["steps"]))
		}
	})
}

// setup is the section "setup".
type setup struct {
	Operation  plan.Operation `json:"operation"`
	Options    plan.Options   `json:"options"`
	History    []string       `json:"history"`
	Pending    plan.Pending   `json:"pending"`
	Values     []plan.Change  `json:"values"`
	Unknown    []string       `json:"unknown"`
	Refuse     []refusal      `json:"refuse"`
	RollbackTo int            `json:"rollbackTo"`
	// Ran are the hooks of stored revisions that have succeeded, as Kind/name.
	Ran []string `json:"ran"`
	// Undoing undoes a failed run, which was to delete and create the Recreated, as Kind/name.
	Undoing   bool     `json:"undoing"`
	Recreated []string `json:"recreated"`
	// NotReached are those that it was to delete and create, and did not.
	NotReached []string `json:"notReached"`
	ChartTo    string   `json:"chartTo"`
	// Unavailable are kinds whose discovery is failing.
	Unavailable []string `json:"unavailable"`
	// Namespace is "missing" or "terminating"; otherwise the release's namespace exists.
	Namespace string `json:"namespace"`
	// Records is the namespace of the records and the lock; "": the release's. With "database" the lock alone
	// is there.
	Records string `json:"records"`
	// Missing are other namespaces that do not exist.
	Missing []string `json:"missing"`
	// Against compares with what is stored instead of with live objects.
	Against     *plan.Against      `json:"against"`
	RecordSize  int                `json:"recordSize"`
	RecordParts []release.PartSize `json:"recordParts"`
	// Claims are the volume claims in the release's namespace, where they were listed.
	Claims []string `json:"claims"`
	// Warnings are oddities found while gathering.
	Warnings []string `json:"warnings"`
	// Deny are the words of --deny.
	Deny []string `json:"deny"`
	// Denied are permissions such as "delete configmaps" and "delete
	// configmaps/a"; Unchecked says why permissions could not be checked.
	Denied    []string `json:"denied"`
	Unchecked string   `json:"unchecked"`
	// ReadOnly plans without dry runs.
	ReadOnly bool `json:"readOnly"`
	// SpareBefore spares objects that are older, as a remediation does.
	SpareBefore metav1.Time `json:"spareBefore"`
	// Reads is what the API server answers when objects can't be read.
	Reads string `json:"reads"`
}

type refusal struct {
	Object string `json:"object"`
	// Warns is a warning, with which the API server accepts the object.
	Warns string `json:"warns"`
	// Anew means that not the change is refused, but creating the object again.
	Anew bool `json:"anew"`
	// Op is the only op that is refused, "" if all are.
	Op           plan.Op `json:"op"`
	plan.Refusal `json:",inline"`
}

type scenario struct {
	t        *testing.T
	sections map[string]string
}

// scenarioIn reads a scenario's file.
func scenarioIn(t *testing.T, file string) scenario {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return scenario{t: t, sections: objecttest.Sections(archive)}
}

func (s scenario) setup() (out setup) {
	s.t.Helper()
	if err := yaml.UnmarshalStrict([]byte(s.sections["setup"]), &out); err != nil {
		s.t.Fatal(err)
	}
	return out
}

func (s scenario) plan() *plan.Plan {
	s.t.Helper()
	setup := s.setup()
	in := s.input(setup)
	built, err := asked(in, setup.Refuse, func(needs []plan.Permission) plan.Access {
		access := plan.Access{Denied: map[plan.Permission]bool{}, Unchecked: setup.Unchecked}
		for _, p := range needs {
			whole := p.Verb + " " + p.Resource
			if slices.Contains(setup.Denied, whole) || slices.Contains(setup.Denied, whole+"/"+p.Name) {
				access.Denied[p] = true
			}
		}
		return access
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.savedAndFresh(built)
	return built
}

// destructionsFound checks that the query of docs/plan-json.md finds the steps that delete volumes.
func destructionsFound(t *testing.T, p *plan.Plan) {
	t.Helper()
	found := map[manifest.ID]bool{}
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Op == plan.OpDelete || s.Op == plan.OpRecreate || s.Risk == plan.RiskData {
			found[s.Object] = true
		}
	})
	for _, v := range p.Impact.Volumes {
		if v.Fate == plan.VolumeDeleted && !found[v.Object] {
			t.Errorf("volumes of %s are deleted, which no step shows by its op or risk", v.Object)
		}
	}
}

func printed(t *testing.T, p *plan.Plan) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Text(&b, &redact.Plan(p).Document, report.TextOptions{Width: 110}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// steps lists the steps of a plan, wave by wave: "delete ID (UID), when of ID: risk".
func steps(p *plan.Plan) string {
	var b strings.Builder
	list := func(stages []plan.Stage) {
		for _, stage := range stages {
			for _, wave := range stage.Waves {
				for _, s := range wave.Steps {
					b.WriteString(step(s))
				}
			}
		}
	}
	list(p.Stages)
	for _, left := range p.NotUndone {
		fmt.Fprintf(&b, "not undone: %s: %s\n", left.Object, left.What)
	}
	if p.OnFailure != nil {
		b.WriteString("on failure\n")
		list(p.OnFailure.Stages)
	}
	return b.String()
}

func step(s plan.Step) string {
	text := fmt.Sprintf("%s %s", s.Op, s.ID)
	if s.Op == plan.OpDelete && s.Expect.UID != "" {
		text += fmt.Sprintf(" (%s)", s.Expect.UID)
	}
	if s.Of != "" {
		text += strings.TrimRight(", "+string(s.When), " ") + " of " + s.Of
	}
	if len(s.Behind) > 0 {
		text += ", behind " + strings.Join(s.Behind, ", ")
	}
	if s.ForcesDrift {
		text += ", forced"
	}
	if s.Risk != "" {
		text += ": " + string(s.Risk)
	}
	if s.Record != nil && len(s.Record.Prune) > 0 {
		text += fmt.Sprintf(", without %v", s.Record.Prune)
	}
	return text + "\n"
}

// savedAndFresh checks that a plan survives being saved: its counts are the same, and unless it is
// blocked, it is not stale compared with the plan it was saved from.
func (s scenario) savedAndFresh(built *plan.Plan) {
	s.t.Helper()
	data, err := plan.Encode(built)
	if err != nil {
		s.t.Fatal(err)
	}
	saved, err := plan.Decode(data)
	if err != nil {
		s.t.Fatal(err)
	}
	if diff := cmp.Diff(built.Summary, saved.Summary); diff != "" {
		s.t.Errorf("reading the saved plan changes its counts (-built +saved):\n%s", diff)
	}
	if built.Blocked() {
		return
	}
	fresh := *built
	saved.Cluster, fresh.Cluster = plan.Cluster{UID: "c"}, plan.Cluster{UID: "c"}
	if stale := plan.Stale(saved, &fresh); len(stale) > 0 {
		s.t.Errorf("the saved plan is stale: %s", said(stale))
	}
}

// asked builds a plan and answers the questions about its steps as the engine does.
func asked(in plan.Input, refuse []refusal, access func([]plan.Permission) plan.Access) (*plan.Plan, error) {
	for {
		p, open, err := plan.Build(in)
		if err != nil {
			return nil, err
		}
		answers := map[string]plan.Prediction{}
		for _, step := range open.DryRuns {
			if in.Against != nil {
				break // no server is asked
			}
			answers[step.ID] = predict(*step, refuse)
		}
		if in.Predictions != nil && len(answers) == 0 {
			return p, nil
		}
		first := in.Predictions == nil
		maps.Copy(answers, in.Predictions)
		in.Predictions, in.Access = answers, access(open.Permissions)
		if first && open.Final(in) {
			return p, nil
		}
	}
}

// predict plays the API server: its result is that of the local merge, unless the
// scenario makes it refuse.
func predict(step plan.Step, refuse []refusal) plan.Prediction {
	for _, r := range refuse {
		if r.Object == step.Object.String() && r.Anew == (step.Op == plan.OpRecreate) && (r.Op == "" || r.Op == step.Op) {
			if r.Warns != "" {
				return plan.Prediction{After: step.After, Warnings: []string{r.Warns}}
			}
			return plan.Prediction{Refused: &r.Refusal}
		}
	}
	return plan.Prediction{After: step.After}
}

func (s scenario) input(setup setup) plan.Input {
	key := release.Key{Namespace: "shop", Name: "web"}
	in := plan.Input{
		Operation: setup.Operation, Release: key, Options: setup.Options, ToolVersion: "test", KubeVersion: "v1.36.3",
		Cluster: plan.Cluster{Server: "https://prod-eu:6443", UID: "cluster"}, Pending: setup.Pending, Values: setup.Values,
		Now:        time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC),
		RollbackTo: setup.RollbackTo, Live: map[manifest.ID]plan.Observation{}, Kinds: map[schema.GroupKind]plan.Kind{},
	}
	if setup.Claims != nil {
		in.Claims = map[string][]string{"shop": setup.Claims}
	}
	in.RecordSize, in.MaxRecordSize, in.RecordParts = setup.RecordSize, 1<<20, setup.RecordParts
	for _, text := range setup.Warnings {
		in.Warnings = append(in.Warnings, plan.Problem{What: text})
	}
	in.Options.Policy = s.policy(setup)
	in.Records = plan.Records{Kind: "Secret", Resource: "secrets", Namespace: in.Release.Namespace, Names: map[int]string{1: "v1", 2: "v2", 3: "v3"}}
	switch setup.Records {
	case "":
	case "database":
		in.Records.Kind, in.Records.Resource = "row", ""
	default:
		in.Records.Namespace = setup.Records
	}
	in.LockName, in.ReadOnly, in.Undoing = "kubectl-release.web", setup.ReadOnly, setup.Undoing
	in.Spare.Before = setup.SpareBefore
	in.Live[plan.NamespaceID("shop")] = namespace(setup.Namespace)
	for _, name := range setup.Missing {
		in.Live[plan.NamespaceID(name)] = plan.Observation{}
	}
	in.History = s.history(setup)
	if last := in.History.Last(); last != nil && (setup.Operation == plan.Uninstall || last.Info.Status.Pending()) {
		in.StoredHookObjects = s.hookObjects(last.Hooks, setup, in.Kinds)
	}
	var sent []plan.Sent
	for _, r := range plan.Attempts(in.History) {
		sent = append(sent, plan.Sent{Revision: r.Version, Attempt: true, Objects: s.objects(fmt.Sprintf("stored.%d", r.Version), setup, in.Kinds)})
	}
	for _, r := range plan.Sources(in.History) {
		sent = append(sent, plan.Sent{Revision: r.Version, Objects: s.objects(fmt.Sprintf("stored.%d", r.Version), setup, in.Kinds)})
	}
	in.Stored = plan.Stored(sent)
	s.observe(&in, setup)
	for _, o := range s.objects("quotas", setup, map[schema.GroupKind]plan.Kind{}) {
		in.Quotas = append(in.Quotas, o.Doc)
	}
	if setup.Against != nil {
		in.Against = setup.Against
		in.Live = plan.Unmoved(in.Stored, s.objects("crds", setup, in.Kinds), key)
	}
	if setup.Operation != plan.Uninstall {
		in.Target = s.target(setup, in)
		plan.Own(in.Target.Objects, in.Stored, in.Release) // as the engine does
		in.Recreated = map[manifest.ID]types.UID{}
		for _, o := range in.Target.Objects {
			switch name := o.Kind + "/" + o.Name; {
			case slices.Contains(setup.Recreated, name):
				in.Recreated[o.ID] = "of before"
			case slices.Contains(setup.NotReached, name):
				in.Recreated[o.ID] = in.Live[o.ID].Object.GetUID()
			}
		}
	}
	return in
}

func (s scenario) policy(setup setup) plan.Policy {
	p, err := plan.DenyRisks(setup.Deny...)
	if err != nil {
		s.t.Fatal(err)
	}
	if file, there := s.sections["policy"]; there {
		parsed, err := plan.ParsePolicy([]byte(file), "policy.yaml")
		if err != nil {
			s.t.Fatal(err)
		}
		p = p.And(parsed)
	}
	return p
}

func namespace(state string) plan.Observation {
	doc := plan.NamespaceDoc("shop")
	switch state {
	case "missing":
		return plan.Observation{}
	case "terminating":
		now := metav1.NewTime(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC))
		doc.SetDeletionTimestamp(&now)
	}
	return plan.Observed(doc)
}

func (s scenario) history(setup setup) release.History {
	var revisions []*release.Revision
	for i, line := range setup.History {
		status, description, _ := strings.Cut(line, " ")
		revisions = append(revisions, &release.Revision{
			Name: "web", Namespace: "shop", Version: i + 1, Chart: chartOf("1.4.2"),
			Info: release.Info{Status: release.Status(status), Description: description}, Hooks: s.hooks(i+1, setup.Ran),
		})
	}
	return release.NewHistory(revisions)
}

// hooks returns the hooks of a stored revision; ran are those that have succeeded.
func (s scenario) hooks(revision int, ran []string) []release.Hook {
	content := s.sections[fmt.Sprintf("hooks.%d", revision)]
	classified, err := manifest.Classify([]manifest.File{{Path: "web/templates/hooks.yaml", Content: content}})
	if err != nil {
		s.t.Fatal(err)
	}
	hooks := make([]release.Hook, 0, len(classified.Hooks))
	for _, h := range classified.Hooks {
		stored := release.Hook{Hook: h}
		if slices.Contains(ran, h.Kind+"/"+h.Name) {
			stored.LastRun.Phase = release.PhaseSucceeded
		}
		hooks = append(hooks, stored)
	}
	return hooks
}

func chartOf(version string) *chart.Chart {
	return &chart.Chart{Metadata: &chart.Metadata{Name: "web", Version: version}}
}

func (s scenario) observe(in *plan.Input, setup setup) {
	for i, o := range s.objects("live", setup, in.Kinds) {
		labels, annotations := o.Doc.GetLabels(), o.Doc.GetAnnotations()
		if labels == nil {
			labels = map[string]string{}
		}
		if annotations == nil {
			annotations = map[string]string{}
		}
		labels[manifest.ManagedByLabel] = manifest.ManagedByHelm
		annotations[manifest.ReleaseNameAnnotation] = "web"
		annotations[manifest.ReleaseNamespaceAnnotation] = "shop"
		o.Doc.SetLabels(labels)
		o.Doc.SetAnnotations(annotations)
		o.Doc.SetUID(types.UID(fmt.Sprintf("uid-%d", i)))
		in.Live[o.ID] = plan.Observed(o.Doc)
	}
	for i, o := range s.objects("foreign", setup, in.Kinds) {
		o.Doc.SetUID(types.UID(fmt.Sprintf("foreign-%d", i)))
		in.Live[o.ID] = plan.Observed(o.Doc)
	}
	if setup.Reads == "" {
		setup.Reads = "forbidden: no permission to get it"
	}
	for _, o := range s.objects("unreadable", setup, in.Kinds) {
		in.Live[o.ID] = plan.Observation{Unreadable: setup.Reads}
	}
}

func (s scenario) target(setup setup, in plan.Input) *plan.Target {
	version := setup.ChartTo
	if version == "" {
		version = "1.4.2"
	}
	classified, err := manifest.Classify([]manifest.File{{Path: "web/templates/all.yaml", Content: s.sections["target"]}})
	if err != nil {
		s.t.Fatal(err)
	}
	next := len(in.History) + 1
	if setup.Operation == plan.Test {
		next--
	}
	record := &release.Revision{
		Name: "web", Namespace: "shop", Version: next, Chart: chartOf(version), Manifest: manifest.Text(classified.Documents),
	}
	target := &plan.Target{Record: record, Chart: plan.ChartRef{Name: "web", Version: version}}
	parsed, err := record.Objects()
	if err != nil {
		s.t.Fatal(err)
	}
	target.Objects = s.qualify(parsed, setup, in.Kinds)
	for _, h := range classified.Hooks {
		record.Hooks = append(record.Hooks, release.Hook{Hook: h})
	}
	target.HookObjects = s.hookObjects(record.Hooks, setup, in.Kinds)
	target.CRDs = s.objects("crds", setup, in.Kinds)
	return target
}

func (s scenario) hookObjects(hooks []release.Hook, setup setup, kinds map[schema.GroupKind]plan.Kind) [][]manifest.Object {
	out := make([][]manifest.Object, len(hooks))
	for i, h := range hooks {
		objects, err := h.Objects()
		if err != nil {
			s.t.Fatal(err)
		}
		out[i] = s.qualify(objects, setup, kinds)
	}
	return out
}

func (s scenario) objects(section string, setup setup, kinds map[schema.GroupKind]plan.Kind) []manifest.Object {
	parsed, err := manifest.Parse(s.sections[section])
	if err != nil {
		s.t.Fatal(err)
	}
	return s.qualify(parsed, setup, kinds)
}

// clusterWide are the cluster-scoped kinds in the scenarios.
var clusterWide = []string{"Namespace", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "PersistentVolume", "PriorityClass", "RuntimeClass", "StorageClass", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}

func (s scenario) qualify(objects []manifest.Object, setup setup, kinds map[schema.GroupKind]plan.Kind) []manifest.Object {
	for _, o := range objects {
		gk := schema.GroupKind{Group: o.Group, Kind: o.Kind}
		k := kinds[gk]
		if slices.Contains(setup.Unknown, o.Kind) {
			kinds[gk] = plan.Kind{}
			continue
		}
		if slices.Contains(setup.Unavailable, o.Kind) {
			kinds[gk] = plan.Kind{Scope: manifest.ScopeNamespaced, Unavailable: "the server is currently unable to handle the request"}
			continue
		}
		k.Scope, k.Resource = manifest.ScopeNamespaced, strings.ToLower(o.Kind)+"s"
		if slices.Contains(clusterWide, o.Kind) {
			k.Scope = manifest.ScopeCluster
		}
		if !slices.Contains(k.Versions, o.Version) && !slices.Contains(setup.Unknown, o.GVK().Version) {
			k.Versions = append(k.Versions, o.Version)
		}
		kinds[gk] = k
	}
	return manifest.Qualify(objects, "shop", func(gvk schema.GroupVersionKind) manifest.Scope { return kinds[gvk.GroupKind()].Scope })
}

// rewrite puts the plan at the end, and the steps after it where they are wanted.
func (s scenario) rewrite(path string, a *txtar.Archive, got map[string]string) {
	a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == "plan" || f.Name == "steps" })
	a.Files = append(a.Files, txtar.File{Name: "plan", Data: []byte(got["plan"])})
	if _, wanted := s.sections["steps"]; wanted {
		a.Files = append(a.Files, txtar.File{Name: "steps", Data: []byte(got["steps"])})
	}
	if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
		s.t.Fatal(err)
	}
}
