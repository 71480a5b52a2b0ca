package plan

// Questions are questions to the API server that the Input of Build does not answer. The engine
// asks them and builds again; a comparison goes without answers.
type Questions struct {
	// DryRuns are the steps whose outcome is not known (Input.Predictions), by their
	// IDs. An object that has to be deleted and created is asked about a second time,
	// under its ReplacementID.
	DryRuns []*Step
	// Permissions are those that no dry run checks (Input.Access), each once.
	Permissions []Permission
	// QuotaNamespaces are where ResourceQuotas count what the plan changes
	// (Input.Quotas).
	QuotaNamespaces []string
	// ClaimNamespaces are where StatefulSets leave volume claims, or take these along
	// (Input.Claims).
	ClaimNamespaces []string
	// estimated says that some step's outcome remains an estimate and is not asked about.
	estimated bool
}

// Final reports whether the plan that came with the questions, of an input without predictions,
// is final: no outcome is open, and the answers that in has been completed with since say nothing
// that Build heeds. It is for most plans that change nothing and most that only delete: to build
// those of 10,000 objects again takes as long as a third of reading them.
func (q Questions) Final(in Input) bool {
	return len(q.DryRuns) == 0 && !q.estimated && len(q.ClaimNamespaces) == 0 && !in.ReadOnly &&
		len(in.Access.Denied) == 0 && in.Access.Unchecked == "" && len(in.Quotas) == 0 && len(in.CustomResources) == 0
}

// dryRuns returns the steps whose outcome has still to be predicted by a dry run.
func (b *builder) dryRuns() []*Step {
	if b.in.ReadOnly {
		return nil
	}
	var open []*Step
	ask := func(s *Step) {
		_, answered := b.in.Predictions[s.ID]
		switch {
		case s.Estimate != "":
			b.questions.estimated = true
		case !answered:
			open = append(open, s)
		}
	}
	b.plan.Steps(func(_ StageName, s *Step) {
		if s.Body == nil {
			return
		}
		switch s.Op {
		case OpCreate, OpPatch, OpAdopt, OpReplace:
			ask(s)
		case OpRecreate:
			replacement := *s
			replacement.ID = ReplacementID(s.ID)
			ask(&replacement)
		case OpRun:
			if s.InPlace() {
				ask(s)
			}
		case OpDelete, OpKeep, OpWait, OpRecord, OpNone:
		}
	})
	return open
}
