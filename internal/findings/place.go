package findings

import (
	"slices"
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

// fieldsOf are those of the object that make a risk; none where it is the whole object.
func fieldsOf(s *plan.Step, r plan.Risk) (out []string) {
	gravest, _, changes := s.Gravest()
	switch {
	case r == plan.RiskStateful && changes:
		out = append(out, gravest.Path)
	case r == plan.RiskScaleDown, r == plan.RiskData && s.Op == plan.OpPatch:
		for _, c := range s.Changes {
			if strings.HasSuffix(strings.ToLower(c.Path), "replicas") {
				out = append(out, c.Path)
			}
		}
	}
	return out
}

// among picks the changes of fields, and of what is in them; all where none of them changes.
func among(s *plan.Step, fields []string) func(plan.Change) bool {
	picks := func(c plan.Change) bool {
		return slices.ContainsFunc(fields, func(field string) bool {
			rest, in := strings.CutPrefix(c.Path, field)
			return in && (rest == "" || rest[0] == '.' || rest[0] == '[')
		})
	}
	if slices.ContainsFunc(s.Changes, picks) {
		return picks
	}
	return anyChange
}
