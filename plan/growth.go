package plan

import (
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/quota"
)

// growth is the difference that a step makes to the resource usage of a namespace.
type growth struct {
	namespace     string
	before, after quota.Usage
	// left is what remains of after when the step ends.
	left quota.Usage
	// podsBefore and podsAfter are the pods that controllers run for the object before and after
	// the step.
	podsBefore, podsAfter workload
	// surge are the additional pods during a rollout.
	surge workload
}

// growths returns the growth that each step causes, wave by wave.
func (b *builder) growths() [][]growth {
	var waves [][]growth
	left := map[manifest.ID]quota.Usage{}
	for _, stage := range b.plan.Stages {
		for _, wave := range stage.Waves {
			var grown []growth
			for i := range wave.Steps {
				if g := b.growth(stage.Name, &wave.Steps[i], left); !b.namespaceMissing(g.namespace) {
					grown = append(grown, g)
				}
			}
			waves = append(waves, grown)
		}
	}
	return waves
}

// growth returns the growth that a step causes. left is what the hooks before it have left behind.
func (b *builder) growth(stage StageName, s *Step, left map[manifest.ID]quota.Usage) growth {
	g := growth{namespace: s.Object.Namespace}
	after := s.outcome()
	switch {
	case s.InPlace(), s.Writes() && s.Op != OpDelete:
		g.before, g.after = b.usageOf(s.Object, s.Before), b.usageOf(s.Object, after)
		g.podsBefore = workloadOf(s.Object, s.Before, 1)
		unsaid := int64(1)
		if s.Before != nil && s.After == nil { // if the body does not set the replicas, their number stays
			unsaid = g.podsBefore.pods
		}
		g.podsAfter = workloadOf(s.Object, after, unsaid)
		if r, ok := b.rollout(s); ok {
			g.surge = workload{pods: r.Most - r.Pods, spec: g.podsAfter.spec}
		}
		if s.Op == OpRun {
			left[s.Object] = g.after.Ended()
		}
	case s.Op == OpDelete:
		switch {
		case !s.HookDeletion():
			g.before, g.podsBefore = b.held(s.Object, s.Before), workloadOf(s.Object, s.Before, 1)
		case s.When == WhenAlways, s.When == WhenSucceeded: // what makes room for a hook is counted with its run
			g.before = b.there(s, left)
			left[s.Object] = quota.Usage{}
		}
	case s.Op == OpRun: // hooks run one after another, each in place of what has its name
		g.before, g.after = b.there(s, left), b.usageOf(s.Object, s.Body)
		left[s.Object] = g.after.Ended()
	case s.Op == OpRecord:
		g.namespace = b.in.lockNamespace()
		if r := s.Record; stage == StagePending && r.Revision != b.plan.FromRevision && b.in.Records.Resource != "" {
			g.after = quota.One("", b.in.Records.Resource)
		}
	}
	g.left = g.after
	if s.Op == OpRun {
		g.left = left[s.Object]
	}
	return g
}

// there returns the usage of the object that has a hook's name when the step begins: one that an earlier hook
// has left behind, else the live one.
func (b *builder) there(s *Step, left map[manifest.ID]quota.Usage) quota.Usage {
	if u, known := left[s.Object]; known {
		return u
	}
	return b.held(s.Object, b.live(s.Object).Object)
}
