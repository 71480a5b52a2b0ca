package reconcile

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// noteAdopted remembers which objects an install or upgrade adopts, from nobody or from somebody
// else. helm-controller deletes them when it remediates that attempt (helm-controller#1242); a pass
// of ours spares them.
func (p *pass) noteAdopted(made *plan.Plan) {
	if made.Operation != plan.Install && made.Operation != plan.Upgrade {
		return
	}
	p.adopted = map[manifest.ID]bool{}
	made.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Op == plan.OpAdopt {
			p.adopted[s.Object] = true
		}
	})
}

// spare returns what a remediation that goes back to the revision good (nil for none) keeps: what
// this process has adopted and, of the objects that good does not have, those older than the
// record of the first attempt after it. That record is written before anything that the attempt
// creates, so a process that has died since has adopted them. Both times are the API server's.
func (p *pass) spare(ctx context.Context, good *release.Revision) (plan.Spare, error) {
	spare := plan.Spare{Objects: p.adopted, Among: map[manifest.ID]bool{}}
	undone := release.NewHistory(p.input.Records)
	if good != nil {
		undone = undone.Since(good.Version)
	}
	if len(undone) == 0 {
		return spare, nil
	}
	first := undone[0]
	record, err := p.stored.Secrets(p.hr.Status.StorageNamespace).Get(ctx, releasestore.ObjectName(first.Name, first.Version), metav1.GetOptions{})
	if err != nil {
		return spare, err
	}
	spare.Before = record.CreationTimestamp
	for _, r := range undone {
		if err := noteObjects(spare.Among, r, true); err != nil {
			return spare, err
		}
	}
	if good != nil {
		err = noteObjects(spare.Among, good, false)
	}
	return spare, err
}

// noteObjects sets is in among for each object of a revision. Whether a kind is namespaced is not known
// here: an object without a namespace is also noted in the release's.
func noteObjects(among map[manifest.ID]bool, r *release.Revision, is bool) error {
	objects, err := r.Objects()
	for _, o := range objects {
		among[o.ID] = is
		if o.Namespace == "" {
			o.Namespace = r.Namespace
			among[o.ID] = is
		}
	}
	return err
}

// leftBehind returns what the uninstall of a HelmRelease that moves to another namespace keeps
// where it has to match helm-controller, which looks for objects without a namespace of their own
// in the new one. Unlike helm-controller, it also leaves alone objects of the same names there.
func (p *pass) leftBehind(ctx context.Context, key release.Key) (plan.Spare, error) {
	spare := plan.Spare{Objects: map[manifest.ID]bool{}}
	if key.Namespace == p.hr.ReleaseNamespace() {
		return spare, nil
	}
	records, err := p.engine.Records(ctx, key)
	if err != nil {
		return spare, err
	}
	for _, r := range records {
		objects, err := r.Objects()
		if err != nil {
			return spare, err
		}
		for _, o := range objects {
			if o.Namespace == "" {
				o.Namespace = key.Namespace
				spare.Objects[o.ID] = true
			}
		}
	}
	return spare, nil
}

// tellKept sends an event about the objects that a remediation has kept, if there are any.
func (p *pass) tellKept(names []string) {
	if len(names) > 0 {
		p.tellOf(p.hr.Status.Snapshots()[0], false, "AdoptedKept", "objects that existed before the release adopted them are left alone: "+strings.Join(names, ", "))
	}
}

// spared returns the names of what a plan keeps because it existed before the install.
func spared(made *plan.Plan, by plan.Spare) (names []string) {
	made.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Op == plan.OpKeep && by.Has(s.Object, s.Before) {
			names = append(names, nameOf(s.Object))
		}
	})
	return names
}
