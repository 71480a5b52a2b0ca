package plan

// summarize counts steps and problems.
func (b *builder) summarize() {
	b.checkRecord()
	b.rate()
	b.judge()
	b.checkAccess()
	s := &b.plan.Summary
	b.plan.Steps(func(_ StageName, step *Step) {
		s.Risks.count(step.Risk)
		s.count(step.Op)
		for _, c := range step.Changes {
			if c.Cause == CauseDrift {
				s.Drifted++
				break
			}
		}
	})
	for _, p := range b.plan.Problems {
		if p.Blocking {
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
