package findings

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/plan"
)

// longest is how many characters of a change are shown.
const longest = 100

// finder collects the findings of one plan.
type finder struct {
	plan  *plan.Document
	words report.Words
	// byID holds the steps by ID, byObject the first step of each object that is not a wait.
	byID     map[string]*plan.Step
	byObject map[manifest.ID]*plan.Step
	found    []Finding
	// told counts fingerprints: if several are the same, those after the first include a number.
	told map[string]int
}

func newFinder(p *plan.Document) *finder {
	f := &finder{plan: p, words: report.WordsFor(p), byID: map[string]*plan.Step{}, byObject: map[manifest.ID]*plan.Step{}, told: map[string]int{}}
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		f.byID[s.ID] = s
		if f.byObject[s.Object] == nil && s.Op != plan.OpWait {
			f.byObject[s.Object] = s
		}
	})
	return f
}

// nameOf returns the release's name for users, on one line.
func nameOf(p *plan.Document) string {
	return escape.Line(cmp.Or(p.EntryName, p.Release.String()))
}

// add completes and adds a finding. about distinguishes it from others of the same rule and step,
// such as the path of a field.
func (f *finder) add(found Finding, about string) {
	found.Release, found.InSet = nameOf(f.plan), f.plan.EntryName != ""
	if found.Place.File == "" {
		found.Place = f.plan.Place
	}
	found.Fingerprint = fingerprint(f.plan, found, about)
	f.told[found.Fingerprint]++
	if n := f.told[found.Fingerprint]; n > 1 {
		found.Fingerprint = fingerprint(f.plan, found, fmt.Sprintf("%s, number %d", about, n))
	}
	f.found = append(f.found, found)
}

// problems adds what blocks the plan, and its warnings.
func (f *finder) problems() {
	for _, p := range f.plan.Problems {
		found := Finding{Rule: rule(p), Level: Note, Message: escape.Message(p.What), Do: escape.Message(p.Do), Step: p.Step, Foremost: p.Foremost, Place: p.Place}
		if p.Blocking {
			found.Level = Failure
		}
		step := f.byID[p.Step]
		if p.Object != (manifest.ID{}) {
			found.Title = f.words.Name(p.Object)
			if step == nil {
				step = f.byObject[p.Object]
			}
		}
		if step != nil {
			found.Step = step.ID
			// A missing permission or a lock is not about a line of the chart.
			if found.Place.File == "" && p.Kind != plan.ProblemPermission && p.Kind != plan.ProblemLocked {
				found.Place = f.placeOf(step, among(step, slices.Concat(p.Fields, fieldsOf(step, p.Risk))))
			}
		}
		about := fmt.Sprint(p.Object)
		if p.Object == (manifest.ID{}) { // there may be several; line numbers and counts may change
			about = digits.ReplaceAllString(p.What, "")
		}
		f.add(found, about)
	}
}

var digits = regexp.MustCompile(`\d+`)

func rule(p plan.Problem) string {
	switch {
	case p.Kind == plan.ProblemPolicy && p.Risk == "":
		return "policy/expression"
	case p.Kind == plan.ProblemPolicy:
		return "policy/" + string(p.Risk)
	case p.Blocking:
		return "blocked/" + string(p.Kind)
	case p.Kind == "":
		return "warning/plan"
	}
	return "warning/" + string(p.Kind)
}

// steps adds the risks of steps, the drift that they revert, and hooks that are new or changed.
func (f *finder) steps() {
	f.plan.Steps(func(_ plan.StageName, s *plan.Step) {
		found := Finding{Title: f.words.Name(s.Object), Step: s.ID, Level: Note}
		for _, r := range s.Told() {
			risk := found
			risk.Rule, risk.Message = riskRule(r), f.words.Risk(s, r)
			risk.Place = f.placeOf(s, among(s, fieldsOf(s, r)))
			if r == plan.RiskData || r == plan.RiskDelete || r == plan.RiskRecreate {
				risk.Level = Warning
			}
			f.add(risk, "")
		}
		if drift := causedBy(s, plan.CauseDrift); len(drift) > 0 {
			found.Rule, found.Message = "drift/overwritten", f.drift(drift)
			f.add(found, "")
		}
		if s.Op == plan.OpRun && s.Hook != nil && (s.Hook.Since == plan.HookNew || s.Hook.Since == plan.HookChanged) {
			found.Rule, found.Message, found.Place = "hook/changed", hookText(s), f.placeOf(s, anyChange)
			f.add(found, "")
		}
	})
}

func hookText(s *plan.Step) string {
	text := escape.Line(string(s.Hook.Event)) + " hook "
	if s.Hook.Since == plan.HookNew {
		return text + "is new"
	}
	return text + "changes " + report.Count(len(s.Changes), "field", "fields")
}

// drift returns "takes back spec.replicas 5 → 3 (kubectl-edit 3h ago) and 2 more".
func (f *finder) drift(changes []plan.Change) string {
	c := changes[0]
	text := "takes back " + f.words.Change(c, longest)
	if c.Detail != "" {
		text += " (" + escape.Line(c.Detail) + ")"
	}
	if more := len(changes) - 1; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func causedBy(s *plan.Step, cause plan.Cause) []plan.Change {
	return slices.DeleteFunc(slices.Clone(s.Changes), func(c plan.Change) bool { return c.Cause != cause })
}

// values adds the user's values that change, each at its line, with its effect.
func (f *finder) values() {
	for _, v := range f.plan.Values {
		if v.Place.File == "" {
			continue // set by a flag, not in a file
		}
		f.add(Finding{Rule: "values/changed", Level: Note, Message: f.words.Change(v, longest) + f.effect(v), Place: v.Place}, v.Path)
	}
}

// effect returns ": changes 3 fields in 2 objects, restarts Deployment/web", as far as changes are
// known to come from the value.
func (f *finder) effect(v plan.Change) string {
	fields, objects := 0, 0
	var restarted []string
	f.plan.Steps(func(_ plan.StageName, s *plan.Step) {
		n := 0
		for _, c := range causedBy(s, plan.CauseValues) {
			if c.Detail == v.Path {
				n++
			}
		}
		if fields += n; n > 0 {
			objects++
			if s.Restarts() {
				restarted = append(restarted, f.words.Name(s.Object))
			}
		}
	})
	if fields == 0 {
		return ""
	}
	text := ": changes " + report.Count(fields, "field", "fields") + " in " + report.Count(objects, "object", "objects")
	if len(restarted) > 0 {
		const shown = 3
		text += ", restarts " + strings.Join(restarted[:min(shown, len(restarted))], ", ")
		if more := len(restarted) - shown; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
	}
	return text
}
