package findings

import (
	"strings"
	"text/template"

	"github.com/kubectl-release/kubectl-release/plan"
)

// placeOf is the line that makes a step what it is: that of the value which causes one of
// its changes, else of a value that has been switched off where the object is deleted,
// else of the template.
func (f *finder) placeOf(s *plan.Step, matters func(plan.Change) bool) plan.Place {
	for _, c := range causedBy(s, plan.CauseValues) {
		if at := f.placeOfValue(c.Detail); matters(c) && at.File != "" {
			return at
		}
	}
	if s.Op == plan.OpDelete && !s.HookDeletion() {
		return f.switchedOff()
	}
	return s.Place
}

func (f *finder) placeOfValue(path string) plan.Place {
	for _, v := range f.plan.Values {
		if v.Path == path && path != "" {
			return v.Place
		}
	}
	return plan.Place{}
}

// switchedOff is the line of the one value that templates take as false now, and did not
// before; nowhere when there are several.
func (f *finder) switchedOff() plan.Place {
	var at plan.Place
	for _, v := range f.plan.Values {
		was, _ := template.IsTrue(v.From)
		is, _ := template.IsTrue(v.To)
		if !was || is || v.Place.File == "" {
			continue
		}
		if at.File != "" {
			return plan.Place{}
		}
		at = v.Place
	}
	return at
}

func anyChange(plan.Change) bool { return true }

// ofRisk picks the changes that make a risk.
func ofRisk(r plan.Risk) func(plan.Change) bool {
	if r != plan.RiskScaleDown {
		return anyChange
	}
	return func(c plan.Change) bool { return strings.HasSuffix(strings.ToLower(c.Path), "replicas") }
}
