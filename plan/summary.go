package plan

import "slices"

// summarize runs the final checks, sorts the problems and counts steps and problems.
func (b *builder) summarize() {
	b.checkRecord()
	b.plan.rate()
	b.applyPolicy()
	b.checkAccess()
	b.correctPartly()
	slices.SortStableFunc(b.plan.Problems, func(a, b Problem) int {
		if a.Foremost == b.Foremost {
			return 0
		}
		if a.Foremost {
			return -1
		}
		return 1
	})
	b.plan.recount()
}

// recount sets the summary to the counts of steps and problems.
func (p *Document) recount() {
	p.Summary = Summary{}
	s := &p.Summary
	p.Steps(func(_ StageName, step *Step) {
		for _, risk := range step.Told() {
			s.Risks.count(risk)
		}
		if !step.HookDeletion() { // counted with its hook
			s.count(step.Op)
			if step.LabelsOnly() {
				s.LabelsOnly++
			}
		}
		for _, c := range step.Changes {
			if c.Cause == CauseDrift {
				s.Drifted++
				break
			}
		}
	})
	for _, problem := range p.Problems {
		if problem.Blocking {
			s.Blocking++
		} else {
			s.Warnings++
		}
	}
}

func (s *Summary) count(op Op) {
	switch op {
	case OpCreate:
		s.Create++
	case OpPatch:
		s.Patch++
	case OpReplace:
		s.Replace++
	case OpRecreate:
		s.Recreate++
	case OpDelete:
		s.Delete++
	case OpKeep:
		s.Keep++
	case OpAdopt:
		s.Adopt++
	case OpRun:
		s.Hooks++
	case OpWait:
		s.Waits++
	case OpNone:
		s.Unchanged++
	case OpRecord:
	}
}

// Add returns the sum of two summaries.
func (s Summary) Add(other Summary) Summary {
	return Summary{
		Risks: RiskCounts{
			Data: s.Risks.Data + other.Risks.Data, Delete: s.Risks.Delete + other.Risks.Delete, Recreate: s.Risks.Recreate + other.Risks.Recreate,
			ScaleDown: s.Risks.ScaleDown + other.Risks.ScaleDown, Stateful: s.Risks.Stateful + other.Risks.Stateful,
		},
		Create: s.Create + other.Create, Patch: s.Patch + other.Patch, LabelsOnly: s.LabelsOnly + other.LabelsOnly,
		Replace: s.Replace + other.Replace, Recreate: s.Recreate + other.Recreate, Delete: s.Delete + other.Delete, Keep: s.Keep + other.Keep,
		Adopt: s.Adopt + other.Adopt, Unchanged: s.Unchanged + other.Unchanged, Hooks: s.Hooks + other.Hooks, Waits: s.Waits + other.Waits,
		Drifted: s.Drifted + other.Drifted, Blocking: s.Blocking + other.Blocking, Warnings: s.Warnings + other.Warnings,
	}
}
