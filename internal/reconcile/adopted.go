package reconcile

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
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

// earlier remembers of the objects of an uninstall those that are older than the install's
// first record, which comes before all that it creates: a process that has died since has
// adopted them. Both times are the API server's.
func (p *pass) earlier(ctx context.Context, made *plan.Plan) error {
	if p.hr.Status.LastAttemptedReleaseAction != flux.AttemptInstall {
		return nil
	}
	cur := p.hr.Status.Snapshots()[0]
	record, err := p.stored.Secrets(p.hr.Status.StorageNamespace).Get(ctx, releasestore.ObjectName(cur.Name, cur.Version), metav1.GetOptions{})
	if err != nil {
		return err
	}
	if p.adopted == nil {
		p.adopted = map[manifest.ID]bool{}
	}
	made.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Before == nil {
			return
		}
		if born := s.Before.GetCreationTimestamp(); born.Before(&record.CreationTimestamp) {
			p.adopted[s.Object] = true
		}
	})
	return nil
}

// spare takes what was adopted out of the plan of an uninstall, and gives its names.
func (p *pass) spare(made *plan.Plan) (spared []string) {
	of := func(s plan.Step) bool {
		return p.adopted[s.Object] && (s.Op == plan.OpDelete || s.Op == plan.OpWait)
	}
	stages := slices.Clone(made.Stages)
	for i, stage := range stages {
		stages[i].Waves = slices.Clone(stage.Waves)
		for j, wave := range stage.Waves {
			for _, s := range wave.Steps {
				if of(s) && s.Op == plan.OpDelete {
					spared = append(spared, nameOf(s.Object))
				}
			}
			stages[i].Waves[j].Steps = slices.DeleteFunc(slices.Clone(wave.Steps), of)
		}
		stages[i].Waves = slices.DeleteFunc(stages[i].Waves, func(w plan.Wave) bool { return len(w.Steps) == 0 })
	}
	made.Stages = slices.DeleteFunc(stages, func(s plan.Stage) bool { return len(s.Waves) == 0 })
	return spared
}
