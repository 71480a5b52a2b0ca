//go:build cluster

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/patch"
	"github.com/kubectl-release/kubectl-release/internal/serverfields"
	"github.com/kubectl-release/kubectl-release/plan"
)

// witness observes what happens to one release in one namespace.
type witness struct {
	*observer
	t                  *testing.T
	namespace, release string
}

// settled waits until the namespace is quiet, and returns what it then contains.
func (w witness) settled() map[string]object { return w.quiet(w.t, w.namespace) }

// snapshot returns what is in the namespace now.
func (w witness) snapshot() map[string]object { return w.all(w.t, w.namespace) }

// run runs kubectl-release, kubectl, helm3 or helm4 in the namespace.
func (w witness) run(program string, args ...string) clustertest.Result {
	w.t.Helper()
	path := map[string]string{
		"kubectl": cluster.Binaries.Kubectl, "helm3": cluster.Binaries.Helm3, "helm4": cluster.Binaries.Helm4, "kubectl-release": clustertest.Program(w.t),
	}[program]
	return cluster.Run(w.t, path, "", append(args, "--namespace", w.namespace)...)
}

// must is like run, but the program must succeed.
func (w witness) must(program string, args ...string) clustertest.Result {
	w.t.Helper()
	r := w.run(program, args...)
	if r.ExitCode != 0 {
		w.t.Fatalf("%s %s: exit code %d\n%s%s", program, strings.Join(args, " "), r.ExitCode, r.Stdout, r.Stderr)
	}
	return r
}

// carriedOut applies the plan that was saved in a file and compares it with the
// outcome; before is what was there when the plan was made.
func (w witness) carriedOut(file string, before map[string]object) {
	w.t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	p, err := plan.Decode(data)
	if err != nil {
		w.t.Fatal(err)
	}
	w.must("kubectl-release", "apply", file)
	outcome{witness: w, plan: p, before: before}.check()
}

// unchanged checks that two snapshots are the same.
func (w witness) unchanged(before, after map[string]object) {
	w.t.Helper()
	for name, was := range before {
		w.same(name, was, after[name])
	}
	for name := range after {
		if before[name] == nil {
			w.t.Errorf("%s is there now", name)
		}
	}
}

// lastWroteStatus reports whether the latest write, to the second, includes one to the
// status: several such writes may leave the status as it was.
func lastWroteStatus(o object) bool {
	newest, status := time.Time{}, time.Time{}
	for _, entry := range o.GetManagedFields() {
		if entry.Time == nil {
			continue
		}
		if entry.Time.After(newest) {
			newest = entry.Time.Time
		}
		if entry.Subresource == "status" && entry.Time.After(status) {
			status = entry.Time.Time
		}
	}
	return !status.IsZero() && !status.Before(newest)
}

// same checks that nobody has written the object since, apart from its status.
func (w witness) same(name string, was, is object) {
	w.t.Helper()
	if is == nil {
		w.t.Errorf("%s is gone", name)
		return
	}
	if diff := cmp.Diff(settledPart(was), settledPart(is)); diff != "" {
		w.t.Errorf("%s has changed (-before +after):\n%s", name, diff)
	}
	if is.GetUID() != was.GetUID() {
		w.t.Errorf("%s is another object now", name)
	}
	if is.GetResourceVersion() != was.GetResourceVersion() && cmp.Equal(was.Object["status"], is.Object["status"]) && !lastWroteStatus(is) {
		w.t.Errorf("%s was written for nothing", name)
	}
}

// settledPart returns an object without its status, without what the server counts and
// stamps, and without the bookkeeping of controllers.
func settledPart(u object) map[string]any {
	if u == nil {
		return nil
	}
	doc := u.DeepCopy()
	delete(doc.Object, "status")
	for _, field := range []string{"resourceVersion", "generation", "managedFields", "uid", "creationTimestamp"} {
		delete(doc.Object["metadata"].(map[string]any), field)
	}
	annotations := doc.GetAnnotations()
	for _, key := range []string{"deployment.kubernetes.io/revision", "deprecated.daemonset.template.generation"} {
		delete(annotations, key)
	}
	doc.SetAnnotations(annotations)
	return doc.Object
}

func fromJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// outcome compares a plan that was applied with the cluster.
type outcome struct {
	witness
	plan   *plan.Plan
	before map[string]object
}

func (o outcome) check() {
	planned, hooks := map[string]bool{}, map[string]bool{}
	o.plan.Steps(func(_ plan.StageName, s *plan.Step) {
		planned[s.Object.String()] = true
		hooks[s.Object.String()] = hooks[s.Object.String()] || s.Op == plan.OpRun
	})
	o.plan.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Op == plan.OpRun || !hooks[s.Object.String()] { // a resource that becomes a hook is replaced by the hook
			o.step(s)
		}
	})
	after := o.snapshot()
	for name, was := range o.before {
		if !planned[name] {
			o.same(name, was, after[name])
		}
	}
	for name := range after {
		if !planned[name] && o.before[name] == nil && !bornWith[name] {
			o.t.Errorf("%s is there, and the plan has no word of it", name)
		}
	}
}

func (o outcome) live(s *plan.Step) object {
	return o.get(o.t, s.APIVersion, s.Object.Kind, s.Object.Namespace, s.Object.Name)
}

func (o outcome) step(s *plan.Step) {
	switch s.Op {
	case plan.OpCreate, plan.OpPatch, plan.OpReplace, plan.OpRecreate, plan.OpAdopt:
		o.written(s, o.live(s))
	case plan.OpNone, plan.OpKeep:
		o.same(s.Object.String(), s.Before, o.live(s))
	case plan.OpDelete:
		o.gone(s)
	case plan.OpRun:
		if s.InPlace() && !s.Hook.Deletes(manifest.HookSucceeded) {
			o.written(s, o.live(s))
		}
		o.ran(s)
	case plan.OpRecord:
		o.recorded(s.Record)
	case plan.OpWait:
	}
}

// written compares an object with what the plan said it would be, and
// its changes with those of the plan.
func (o outcome) written(s *plan.Step, is object) {
	if is == nil {
		o.t.Errorf("%s is not there", s.Object)
		return
	}
	switch s.Fidelity {
	case plan.FidelityExact:
		if diff := cmp.Diff(settledPart(s.After), settledPart(foreseeable(s, is))); diff != "" {
			o.t.Errorf("%s %s is not what the plan says (-plan +cluster):\n%s", s.Op, s.Object, diff)
		}
	case plan.FidelityEstimated:
		if s.After == nil || !patch.InSync(s.After, is, s.After) {
			o.t.Errorf("%s %s does not hold what the plan says (-plan +cluster):\n%s", s.Op, s.Object, cmp.Diff(settledPart(s.After), settledPart(is)))
		}
	case plan.FidelityUnknown:
		o.t.Errorf("%s %s: the plan knows nothing of it", s.Op, s.Object)
	}
	if s.Before == nil {
		return
	}
	if kept := is.GetUID() == s.Before.GetUID(); kept == (s.Op == plan.OpRecreate) {
		o.t.Errorf("%s %s: it is the same object: %v", s.Op, s.Object, kept)
	}
	o.changes(s, is)
}

// foreseeable returns an object without the fields that the API server and its controllers
// chose. These are few, and serverfields.StripServerAssigned knows them.
func foreseeable(s *plan.Step, is object) object {
	before := s.Before
	if s.Op == plan.OpRecreate {
		before = nil
	}
	return serverfields.StripServerAssigned(is, before, s.Body)
}

// changes compares the changes that the plan shows with those that were made.
func (o outcome) changes(s *plan.Step, is object) {
	var said, made []string
	for _, c := range s.Changes {
		said = append(said, fmt.Sprintf("%s %s → %s", c.Path, fromJSON(c.From), fromJSON(c.To)))
	}
	before := s.Before
	if s.Op == plan.OpRecreate {
		before = serverfields.StripServerAssigned(before, nil, s.Body)
	}
	for _, c := range fielddiff.Compare(before.Object, foreseeable(s, is).Object) {
		made = append(made, fmt.Sprintf("%s %s → %s", c.Path, fromJSON(c.From), fromJSON(c.To)))
	}
	if diff := cmp.Diff(said, made); diff != "" {
		o.t.Errorf("%s %s: its changes are not those of the plan (-plan +made):\n%s", s.Op, s.Object, diff)
	}
}

// gone waits until an object is gone, or is being deleted and has finalizers.
func (o outcome) gone(s *plan.Step) {
	for range 6000 {
		is := o.live(s)
		if is == nil || is.GetUID() != s.Before.GetUID() || is.GetDeletionTimestamp() != nil && len(s.Before.GetFinalizers()) > 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	o.t.Errorf("%s is still there", s.Object)
}

// ran checks that a hook's object is there unless its delete policies remove it.
func (o outcome) ran(s *plan.Step) {
	is := o.live(s)
	switch deleted := s.Hook.Deletes(manifest.HookSucceeded); {
	case deleted && is != nil && is.GetDeletionTimestamp() == nil:
		o.t.Errorf("hook %s is still there", s.Object)
	case !deleted && is == nil:
		o.t.Errorf("hook %s is not there", s.Object)
	case !deleted && !patch.InSync(s.Body, is, s.Body):
		o.t.Errorf("hook %s is not what the plan says: %s", s.Object, cmp.Diff(settledPart(s.Body), settledPart(is)))
	}
}

// recorded compares the release's records with a record step of the plan, unless that is pending.
func (o outcome) recorded(r *plan.Record) {
	if r.Status.Pending() {
		return
	}
	var history []struct {
		Revision int
		Status   string
	}
	result := o.run("kubectl-release", "history", o.release, "-o", "json")
	if err := json.Unmarshal([]byte(result.Stdout), &history); err != nil {
		o.t.Fatalf("%v\n%s%s", err, result.Stdout, result.Stderr)
	}
	found := r.Revision == 0 // the step writes only older ones
	for _, h := range history {
		found = found || h.Revision == r.Revision
		want := h.Status
		switch {
		case h.Revision == r.Revision:
			want = string(r.Status)
		case slices.Contains(r.Supersede, h.Revision):
			want = "superseded"
		case slices.Contains(r.Fail, h.Revision):
			want = "failed"
		case slices.Contains(r.Prune, h.Revision):
			want = "gone"
		}
		if h.Status != want {
			o.t.Errorf("revision %d is %s, the plan says %s", h.Revision, h.Status, want)
		}
	}
	if !found {
		o.t.Errorf("there is no revision %d, which the plan says is %s", r.Revision, r.Status)
	}
}
