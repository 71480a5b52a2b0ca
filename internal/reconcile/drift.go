package reconcile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/internal/flux/drift"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// deviation is how live objects differ from what the newest revision has sent.
type deviation struct {
	// plan brings the objects back.
	plan *plan.Plan
	// lines say which objects differ and how, as helm-controller does, and name the fields.
	lines []string
	// unknown are objects that can't be changed back without deleting them, or whose dry run was
	// refused, each with the reason.
	unknown []string
}

// lookForDrift compares live objects with the stored manifest, with one LIST per kind
// and namespace, and a dry run for each object that exists.
func (p *pass) lookForDrift(ctx context.Context) error {
	rules, err := drift.Compile(p.hr)
	if err != nil {
		return p.safe(err)
	}
	if p.in.Room != nil {
		if err := p.in.Room(ctx, len(p.newest().Manifest)); err != nil {
			return err
		}
	}
	made, err := p.engine.PlanDrift(ctx, p.key(), plan.Options{
		ForceConflicts: true, TakeOwnership: true, FieldManager: flux.FieldManager, Timeout: p.hr.Timeout(),
	}, plan.DriftScope{Partly: true, Overlook: rules.Overlook})
	if err != nil {
		return p.safe(err)
	}
	made = made.WithSecrets(append(p.secrets[:len(p.secrets):len(p.secrets)], made.Secrets...))
	p.mask = redact.NewMask(made)
	found := deviation{plan: made}
	made.Steps(func(_ plan.StageName, s *plan.Step) { found.add(s) })
	objects, why := made.Uncorrected()
	for i, id := range objects {
		found.unknown = append(found.unknown, nameOf(id)+": "+why[i])
	}
	p.drift = found
	switch {
	case len(found.lines) > 0:
		p.input.Drift = decision.DriftFound
	case p.r.Compatible && len(found.unknown) > 0:
		p.input.Drift = decision.DriftUnknown
	default:
		p.input.Drift = decision.DriftNone
	}
	return nil
}

// add records a step that brings an object back.
func (d *deviation) add(s *plan.Step) {
	switch s.Op {
	case plan.OpNone, plan.OpKeep:
	case plan.OpCreate:
		d.lines = append(d.lines, nameOf(s.Object)+" removed")
	case plan.OpPatch, plan.OpReplace, plan.OpRecreate, plan.OpDelete, plan.OpAdopt, plan.OpRun, plan.OpWait, plan.OpRecord:
		d.lines = append(d.lines, nameOf(s.Object)+" "+summary(s.Changes))
	}
}

// nameOf returns helm-controller's "Kind/namespace/name".
func nameOf(id manifest.ID) string {
	if id.Namespace == "" {
		return id.Kind + "/" + id.Name
	}
	return id.Kind + "/" + id.Namespace + "/" + id.Name
}

// summary counts changes as helm-controller does, and names their fields and who wrote them.
func summary(changes []plan.Change) string {
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
		field := c.Path
		if c.Manager != "" {
			field += " (by " + c.Manager + ")"
		}
		fields = append(fields, field)
	}
	return fmt.Sprintf("changed (%d additions, %d changes, %d removals): %s", added, changed, removed, strings.Join(fields, ", "))
}

// noteDrift reports the drift that was found.
func (p *pass) noteDrift() {
	cur := p.hr.Status.Snapshots()[0]
	message := fmt.Sprintf("Cluster state of release %s has drifted from the desired state:\n%s", full(cur), strings.Join(p.drift.lines, "\n"))
	p.mark(drifted, metav1.ConditionTrue, "DriftDetected", message)
	p.tell(Event{Warning: true, Reason: "DriftDetected", Message: message})
}

// driftNotSeen ends a pass that could not look for drift at all, and returns why. Unless Compatible
// is set, that is no more a reason not to be ready than an object for which no dry run can be made.
func (p *pass) driftNotSeen(ctx context.Context, why error) error {
	switch {
	case ctx.Err() != nil:
	case p.r.Compatible:
		return p.stateError("unable to determine cluster state: " + why.Error())
	default:
		p.mark(drifted, metav1.ConditionUnknown, driftUnknown, "Drift could not be looked for: "+why.Error())
		p.inSync()
	}
	return why
}

const driftUnknown = "DriftUnknown"

// noDrift reports that no object differs, and for which objects that is not known: that
// is no reason not to be ready.
func (p *pass) noDrift() {
	if len(p.drift.unknown) > 0 {
		p.mark(drifted, metav1.ConditionUnknown, driftUnknown, "No dry run could be made of:\n"+p.masked(strings.Join(p.drift.unknown, "\n")))
		return
	}
	p.mark(drifted, metav1.ConditionFalse, "NoDriftDetected", "No drift detected against the cluster state")
}

// correctDrift brings back what differs. What can't be is reported, and tried again by the next pass.
func (p *pass) correctDrift(ctx context.Context, _ decision.Decision) error {
	cur := p.hr.Status.Snapshots()[0]
	p.mark(ready, metav1.ConditionUnknown, progressing, "correcting cluster drift")
	done := &corrections{}
	restoring := *p.engine
	restoring.Observer = done
	err := p.safe(p.ended(restoring.Restore(ctx, p.drift.plan, releasestore.LockOptions{Wait: lockWait})))
	if left(err) {
		return err
	}
	if locked(err) {
		p.summarize()
		return err
	}
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

// corrections records which objects were brought back.
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
	c.lines = append(c.lines, nameOf(e.Object)+" "+verb)
}
