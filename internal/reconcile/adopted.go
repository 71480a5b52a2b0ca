package reconcile

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// noteAdopted remembers which objects an install takes over from nobody or somebody else.
// helm-controller deletes them when it remedies that install by an uninstall
// (helm-controller#1242); a pass of ours spares them.
func (p *pass) noteAdopted(made *plan.Plan) {
	if made.Operation != plan.Install {
		return
	}
	p.adopted = map[manifest.ID]bool{}
	made.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Op == plan.OpAdopt {
			p.adopted[s.Object] = true
		}
	})
}

// spare is what the uninstall that remedies an install keeps: what this process has adopted, and
// what is older than the install's first record, which comes before all that it creates: a process
// that has died since has adopted that. Both times are the API server's.
func (p *pass) spare(ctx context.Context) (plan.Spare, error) {
	spare := plan.Spare{Objects: p.adopted}
	if p.hr.Status.LastAttemptedReleaseAction != flux.AttemptInstall {
		return spare, nil
	}
	cur := p.hr.Status.Snapshots()[0]
	record, err := p.stored.Secrets(p.hr.Status.StorageNamespace).Get(ctx, releasestore.ObjectName(cur.Name, cur.Version), metav1.GetOptions{})
	if err != nil {
		return spare, err
	}
	spare.Before = record.CreationTimestamp
	return spare, nil
}

// leftBehind is what the uninstall of a HelmRelease that moves to another namespace keeps, where
// it is to be as helm-controller's: that looks for objects without a namespace of their own in the
// new one. Unlike there, what has their names there is left alone, too.
func (p *pass) leftBehind(ctx context.Context, key release.Key) (plan.Spare, error) {
	spare := plan.Spare{Objects: map[manifest.ID]bool{}}
	if key.Namespace == p.hr.ReleaseNamespace() {
		return spare, nil
	}
	records, err := p.engine.Records(ctx, key)
	if err != nil || len(records) == 0 {
		return spare, err
	}
	objects, err := manifest.Parse(release.NewHistory(records).Last().Manifest)
	if err != nil {
		return spare, err
	}
	for _, o := range objects {
		if o.Namespace == "" {
			o.Namespace = key.Namespace
			spare.Objects[o.ID] = true
		}
	}
	return spare, nil
}

// spared are the names of what a plan keeps that was there before the install.
func spared(made *plan.Plan, by plan.Spare) (names []string) {
	made.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Op == plan.OpKeep && by.Has(s.Object, s.Before) {
			names = append(names, nameOf(s.Object))
		}
	})
	return names
}
