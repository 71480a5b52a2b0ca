package plan

// Questions are the questions to the API server that the Input of Build does not answer. The engine
// asks them and builds again; a comparison does without answers.
type Questions struct {
	// DryRuns are the steps whose outcome is not known yet; the answers go into Input.Predictions.
	// With --force, a step may be asked about again under another ID, see dryRunID. A step whose namespace
	// comes with the plan is asked about in another one, see trial.
	DryRuns []*Step
	// Permissions are the permissions that no dry run checks, without duplicates; the answers go
	// into Input.Access.
	Permissions []Permission
	// QuotaNamespaces are the namespaces whose ResourceQuotas count what the
	// plan changes; they go into Input.Quotas.
	QuotaNamespaces []string
	// ClaimNamespaces are the namespaces where StatefulSets leave their PersistentVolumeClaims
	// behind, delete or need them; the claims' names go into Input.Claims.
	ClaimNamespaces []string
	// estimated says that the outcome of some step remains an estimate that no dry run can replace.
	estimated bool
}

// Final reports whether the plan that came with the questions, built from an input without
// predictions, is final: no outcome is open, and the answers that in now contains would change
// nothing. This is so for most plans that change nothing or only delete; building one of 10,000
// objects again would take a third as long as reading them.
func (q Questions) Final(in Input) bool {
	return len(q.DryRuns) == 0 && !q.estimated && len(q.ClaimNamespaces) == 0 && !in.ReadOnly &&
		len(in.Access.Denied) == 0 && in.Access.Unchecked == "" && len(in.Quotas) == 0 && len(in.CustomResources) == 0
}

// dryRuns returns the steps whose outcome a dry run has yet to predict.
func (b *builder) dryRuns() []*Step {
	if b.in.ReadOnly {
		return nil
	}
	var open []*Step
	ask := func(s *Step) {
		id := b.dryRunID(s)
		_, answered := b.in.Predictions[id]
		switch {
		case s.Estimate != "":
			b.questions.estimated = true
		case !answered && id == s.ID:
			open = append(open, s)
		case !answered:
			again := *s
			again.ID = id
			open = append(open, &again)
		}
	}
	try := func(s *Step) {
		if trial, possible := b.trial(s); possible {
			if _, answered := b.in.Predictions[trial.ID]; !answered {
				open = append(open, &trial)
			}
		}
	}
	b.plan.Steps(func(_ StageName, s *Step) {
		if s.Body == nil {
			return
		}
		try(s)
		switch s.Op {
		case OpCreate, OpPatch, OpAdopt, OpReplace, OpRecreate:
			ask(s)
		case OpRun:
			if s.InPlace() || b.hookToCheck(s) {
				ask(s)
			}
		case OpDelete, OpKeep, OpWait, OpRecord, OpNone:
		}
	})
	return open
}
