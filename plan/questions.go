package plan

// Questions are what Build would like to know of the API server and its Input does
// not answer. The engine asks and builds again; a comparison goes without answers.
type Questions struct {
	// DryRuns are the steps whose outcome is not known (Input.Predictions), by their
	// IDs. An object that has to be deleted and created is asked about a second time,
	// under its ReplacementID.
	DryRuns []*Step
	// Permissions are what no dry run tells (Input.Access), each once.
	Permissions []Permission
	// QuotaNamespaces are where ResourceQuotas count what the plan changes
	// (Input.Quotas).
	QuotaNamespaces []string
	// ClaimNamespaces are where StatefulSets leave volume claims, or take these along
	// (Input.Claims).
	ClaimNamespaces []string
}

// dryRuns are the steps that have not been predicted.
func (b *builder) dryRuns() []*Step {
	if b.in.ReadOnly {
		return nil
	}
	var open []*Step
	ask := func(s *Step) {
		if _, answered := b.in.Predictions[s.ID]; !answered {
			open = append(open, s)
		}
	}
	b.plan.Steps(func(_ StageName, s *Step) {
		if s.Body == nil || s.Estimate != "" {
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
