package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/plan"
)

func (w entryWriter) entry(s *plan.Step) (entry, error) {
	e := entry{op: s.Op, id: s.ID, kind: s.Object.Kind, name: w.names.name(s.Object), detail: w.detail(s)}
	noise, quiet := w.podNoise(s)
	switch {
	case w.folds.alone[s.ID]:
		e.detail = cmp.Or(noise, "annotations change")
	case noise != "" && e.detail != "":
		e.detail = noise + "; " + e.detail
	case noise != "":
		e.detail = noise
	}
	changes := w.shownChanges(s, quiet)
	shown := mostSevere(s, changes, w.limit(w.view.rows))
	e.hiddenRows = len(changes) - len(shown)
	for _, c := range shown {
		r, err := w.row(c)
		if err != nil {
			return entry{}, err
		}
		e.rows = append(e.rows, r)
	}
	if w.view.bodies && (s.Op == plan.OpCreate || s.Op == plan.OpRun && len(s.Changes) == 0) {
		e.creates = cmp.Or(s.Body, s.After)
	}
	if len(e.rows) == 0 && e.detail == "" {
		e.detail = reason(verb(s.Op), s.Why)
	}
	return e, nil
}

// mostSevere returns at most n of the changes, those that a reviewer should see first, in their
// original order; n = 0 is no limit.
func mostSevere(s *plan.Step, changes []repeated, n int) []repeated {
	if n == 0 || len(changes) <= n {
		return changes
	}
	severity, order := make([]int, len(changes)), make([]int, len(changes))
	for i, c := range changes {
		severity[i], order[i] = s.Severity(c.Change), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(severity[a], severity[b]) })
	order = order[:n]
	slices.Sort(order)
	out := make([]repeated, n)
	for i, at := range order {
		out[i] = changes[at]
	}
	return out
}

// shownChanges returns the changes that get rows of their own. quiet leaves out those that podNoise
// sums up.
func (w entryWriter) shownChanges(s *plan.Step, quiet bool) []repeated {
	var changes []plan.Change
	for _, c := range s.Changes {
		if w.folds.has(s, c) || !showsChanges(s.Op) || s.Op == plan.OpRun && c.OfLabel() && !w.view.full || quiet && isPodNoise(c) {
			continue
		}
		within := inside(c)
		if within == nil || w.view.full && isText(c) {
			within = []plan.Change{c}
		}
		changes = append(changes, within...)
	}
	return foldAlike(changes, w.view.full)
}

func showsChanges(op plan.Op) bool {
	return op == plan.OpPatch || op == plan.OpReplace || op == plan.OpAdopt || op == plan.OpRecreate || op == plan.OpKeep || op == plan.OpRun
}

// detail describes the step, unless its changes do so.
func (w entryWriter) detail(s *plan.Step) string {
	switch s.Op {
	case plan.OpCreate:
		return w.creation(s)
	case plan.OpPatch:
		return cmp.Or(w.estimate(s), w.migrateOwnership(s))
	case plan.OpAdopt:
		why := strings.TrimPrefix(strings.TrimPrefix(s.Why, "it is taken over: "), "it ")
		text := verb(s.Op) + " (" + escape.Message(why) + ")"
		if first := w.migrateOwnership(s); first != "" {
			text += "; it " + first
		}
		return text
	case plan.OpReplace, plan.OpKeep:
		return reason(verb(s.Op), s.Why)
	case plan.OpRecreate:
		if s.Risk != "" { // the risk already says why
			return "delete, then create"
		}
		return reason("delete, then create", s.Why)
	case plan.OpDelete:
		return reason("delete", unlessOrdinary(s.Why))
	case plan.OpRun:
		if w.view.full {
			return w.hookText(s) + hookPolicies(s)
		}
		return w.hookText(s)
	case plan.OpNone:
		return "unchanged"
	case plan.OpWait, plan.OpRecord:
		return ""
	}
	return ""
}

// creation describes what is created, why if it is not simply new, and why the outcome is
// uncertain.
func (w entryWriter) creation(s *plan.Step) string {
	text := "create"
	if why := unlessOrdinary(s.Why); why != "" {
		text += " (" + escape.Message(why) + ")"
	}
	body := s.Body
	if body == nil {
		body = s.After
	}
	if facts := digest(body); facts != "" {
		text += ": " + facts
	}
	if s.Fidelity != plan.FidelityEstimated || unlessOrdinary(s.Estimate) == "" {
		return text
	}
	if estimate := w.estimate(s); estimate != "" {
		text += " (" + estimate + ")"
	}
	return text
}

// unlessOrdinary omits reasons that follow from the sign alone.
func unlessOrdinary(why string) string {
	switch why {
	case "the chart has it and the cluster does not", "crds/ has it and the cluster does not", "--create-namespace, and it does not exist",
		"a namespace needs no dry run", "the release is uninstalled":
		return ""
	}
	return why
}

// estimate explains why the outcome is uncertain. A reason that many steps share is in the header.
func (w entryWriter) estimate(s *plan.Step) string {
	switch {
	case s.Fidelity == plan.FidelityUnknown:
		return reason("outcome unknown", cmp.Or(s.Estimate, s.Why))
	case s.Estimate == "" || toldAbove(w.plan, s):
		return ""
	}
	same := 0
	w.plan.Steps(func(_ plan.StageName, other *plan.Step) {
		if other.Op != plan.OpNone && other.Estimate == s.Estimate {
			same++
		}
	})
	if same >= minFold {
		return ""
	}
	return reason("estimated", s.Estimate)
}

func (w entryWriter) row(c repeated) (row, error) {
	r := row{change: c.Change, path: escape.Line(c.Path), cause: cause(c.Change), like: c.like, line: w.limit(w.view.line)}
	if !isText(c.Change) {
		return r, nil
	}
	lines, err := textDiff(c.Change, w.view.context)
	if err != nil {
		return row{}, err
	}
	r.diff, r.tally = lines, tally(c.Change, lines)
	shorten(lines, r.line)
	if limit := w.limit(w.view.lines); limit > 0 && len(lines) > limit {
		r.diff, r.hiddenLines = lines[:limit], len(lines)-limit
	}
	return r, nil
}

// cause returns text such as "values image.tag" or "drift, kubectl-edit 3h ago".
func cause(c plan.Change) string {
	text, detail := escape.Line(string(c.Cause)), escape.Line(c.Detail)
	switch {
	case detail == "":
		return text
	case c.Cause == plan.CauseDrift:
		return text + ", " + detail
	case text == "":
		return detail
	}
	return text + " " + detail
}
