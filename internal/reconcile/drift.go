package reconcile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// exclusion is the label or annotation of objects whose drift nobody looks at, set to
// "disabled", in the manifest or in the cluster.
const exclusion = flux.HelmGroup + "/driftDetection"

// drift is what live objects differ in from what the newest revision has sent.
type drift struct {
	plan *plan.Plan
	// steps bring the objects back.
	steps []plan.Step
	// lines say which objects differ and how, as helm-controller does, with the fields.
	lines []string
	// unknown are objects whose dry run was refused.
	unknown []string
}

// lookForDrift compares live objects with the stored manifest, with one LIST a kind and
// namespace, and a dry run for each that is there.
func (p *pass) lookForDrift(ctx context.Context) error {
	if p.standing {
		p.in.RecordsUnchanged = false
		p.records(ctx)
	}
	made, err := p.engine.PlanDrift(ctx, p.key(), plan.Options{
		ForceConflicts: true, TakeOwnership: true, NoHooks: true, FieldManager: fieldManager, Timeout: p.hr.Timeout(),
	})
	if err != nil {
		return p.safe(err)
	}
	made = made.WithSecrets(append(p.secrets[:len(p.secrets):len(p.secrets)], made.Secrets...))
	p.mask = redact.NewMask(made)
	ignore, err := newIgnoring(p.hr)
	if err != nil {
		return err
	}
	found := drift{plan: made}
	made.Steps(func(stage plan.StageName, s *plan.Step) {
		if stage == plan.StageResources {
			found.add(*s, made, ignore)
		}
	})
	p.drift = found
	p.input.Drift = decision.DriftNone
	if len(found.steps) > 0 {
		p.input.Drift = decision.DriftFound
	}
	return nil
}

// add judges one object. One that can't be changed back without deleting it is unknown,
// as is one whose dry run was refused.
func (d *drift) add(s plan.Step, made *plan.Plan, ignore ignoring) {
	name := s.Object.Kind + "/" + s.Object.Name
	if s.Object.Namespace != "" {
		name = s.Object.Kind + "/" + s.Object.Namespace + "/" + s.Object.Name
	}
	refused := slices.IndexFunc(made.Problems, func(problem plan.Problem) bool { return problem.Blocking && problem.Object == s.Object })
	switch {
	case excluded(s.Body) || excluded(s.Before):
	case refused >= 0:
		d.unknown = append(d.unknown, name+": "+made.Problems[refused].What)
	case s.Op == plan.OpCreate:
		d.steps, d.lines = append(d.steps, s), append(d.lines, name+" removed")
	case s.Op == plan.OpRecreate:
		d.unknown = append(d.unknown, name+": it would have to be deleted and created again")
	case s.Op == plan.OpPatch, s.Op == plan.OpAdopt:
		kept, after := ignore.keep(s)
		changes := fielddiff.Compare(comparable(s.Before), comparable(after))
		if len(changes) == 0 {
			return
		}
		d.steps, d.lines = append(d.steps, kept), append(d.lines, name+" "+summary(changes))
	case s.Op == plan.OpNone, s.Op == plan.OpKeep, s.Op == plan.OpDelete, s.Op == plan.OpReplace, s.Op == plan.OpRun, s.Op == plan.OpRecord, s.Op == plan.OpWait:
	}
}

func excluded(o *unstructured.Unstructured) bool {
	return o != nil && (o.GetLabels()[exclusion] == "disabled" || o.GetAnnotations()[exclusion] == "disabled")
}

// comparable is an object without what the API server counts.
func comparable(o *unstructured.Unstructured) map[string]any {
	if o == nil {
		return nil
	}
	out := o.DeepCopy()
	for _, field := range []string{"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"} {
		unstructured.RemoveNestedField(out.Object, "metadata", field)
	}
	delete(out.Object, "status")
	return out.Object
}

// summary counts changes as helm-controller does, and names their fields.
func summary(changes []fielddiff.Change) string {
	var added, changed, removed int
	var fields []string
	for _, c := range changes {
		switch {
		case c.From == nil:
			added++
		case c.To == nil:
			removed++
		default:
			changed++
		}
		fields = append(fields, c.Path)
	}
	return fmt.Sprintf("changed (%d additions, %d changes, %d removals): %s", added, changed, removed, strings.Join(fields, ", "))
}

// noteDrift says what was found.
func (p *pass) noteDrift() {
	cur := p.hr.Status.Snapshots()[0]
	message := fmt.Sprintf("Cluster state of release %s has drifted from the desired state:\n%s", full(cur), strings.Join(p.drift.lines, "\n"))
	p.mark(drifted, metav1.ConditionTrue, "DriftDetected", message)
	p.tell(Event{Warning: true, Reason: "DriftDetected", Message: message})
}

// noDrift says that no object differs, and of which that is not known: that is no reason
// not to be ready.
func (p *pass) noDrift() {
	if len(p.drift.unknown) > 0 {
		p.mark(drifted, metav1.ConditionUnknown, "DriftUnknown", "No dry run could be made of:\n"+p.masked(strings.Join(p.drift.unknown, "\n")))
		return
	}
	p.mark(drifted, metav1.ConditionFalse, "NoDriftDetected", "No drift detected against the cluster state")
}

// correctDrift brings back what differs. What can't be is told, and tried by the next pass.
func (p *pass) correctDrift(ctx context.Context, _ decision.Decision) error {
	cur := p.hr.Status.Snapshots()[0]
	p.mark(ready, metav1.ConditionUnknown, progressing, "correcting cluster drift")
	done := &corrections{}
	p.engine.Observer = done
	err := p.safe(p.engine.Restore(ctx, p.drift.plan, p.drift.steps, releasestore.LockOptions{Wait: lockWait}))
	p.engine.Observer = nil
	slices.Sort(done.lines)
	lines := strings.Join(done.lines, "\n")
	if err == nil {
		p.tellOf(cur, false, "DriftCorrected", fmt.Sprintf("Cluster state of release %s has been corrected:\n%s", full(cur), lines))
		return nil
	}
	partially := ""
	if lines != "" {
		partially, lines = "partially ", "\n\nSuccessful corrections:\n"+lines
	}
	p.tellOf(cur, true, "DriftCorrectionFailed", fmt.Sprintf("Failed to %scorrect cluster state of release %s:\n%s%s", partially, full(cur), err, lines))
	return nil
}

// corrections hears which objects were brought back.
type corrections struct{ lines []string }

// Observe implements apply.Observer.
func (c *corrections) Observe(e apply.Event) {
	if e.Type != apply.StepDone {
		return
	}
	verb := "configured"
	if e.Op == plan.OpCreate {
		verb = "created"
	}
	name := e.Object.Kind + "/" + e.Object.Name
	if e.Object.Namespace != "" {
		name = e.Object.Kind + "/" + e.Object.Namespace + "/" + e.Object.Name
	}
	c.lines = append(c.lines, name+" "+verb)
}
