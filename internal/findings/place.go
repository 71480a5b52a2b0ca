package findings

import (
	"slices"
	"strings"
	"text/template"

	"github.com/kubectl-release/kubectl-release/plan"
)

// placeOf returns the line that causes a step: that of the value that causes one of the changes
// that matter. Without one, it is that of a value that was switched off if the object is deleted,
// and that of the template otherwise. It is empty, which stands for the release, if only values
// cause these changes and their lines are not known: the template is as it was.
func (f *finder) placeOf(s *plan.Step, matters func(plan.Change) bool) plan.Place {
	byValues := slices.DeleteFunc(causedBy(s, plan.CauseValues), func(c plan.Change) bool { return !matters(c) })
	for _, c := range byValues {
		if at := f.placeOfValue(c.Detail); at.File != "" {
			return at
		}
	}
	if len(byValues) > 0 && !slices.ContainsFunc(causedBy(s, plan.CauseChart), matters) {
		return plan.Place{}
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

// switchedOff returns the line of the one value that is now false to templates and was not before;
// an empty place if there are several, or if the chart may have dropped an object itself.
func (f *finder) switchedOff() plan.Place {
	if f.plan.OtherFiles() {
		return plan.Place{}
	}
	var at plan.Place
	found := false
	for _, v := range f.plan.Values {
		was, _ := template.IsTrue(v.From)
		is, _ := template.IsTrue(v.To)
		if !was || is {
			continue
		}
		if found {
			return plan.Place{}
		}
		at, found = v.Place, true
	}
	return at
}

func anyChange(plan.Change) bool { return true }

// fieldsOf returns the fields of the object that cause a risk; none if it is the whole object.
func fieldsOf(s *plan.Step, r plan.Risk) (out []string) {
	mostSevere, _, changes := s.MostSevere()
	switch {
	case r == plan.RiskStateful && changes:
		out = append(out, mostSevere.Path)
	case r == plan.RiskScaleDown, r == plan.RiskData && (s.Op == plan.OpPatch || s.InPlace()):
		for _, c := range s.Changes {
			if _, ok := s.ScaleDown(c); ok {
				out = append(out, c.Path)
			}
		}
	}
	return out
}

// among returns a function that selects the changes to the fields and below them, or all changes if
// none of the fields changes.
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
