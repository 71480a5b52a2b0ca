package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// sections are the stages with something to print, in the order of the run.
func sections(p *plan.Plan, v view, names namer, f folds) ([]section, error) {
	w := entryWriter{plan: p, view: v, names: names, folds: f}
	var out []section
	for _, stage := range p.Stages {
		s, err := w.section(stage)
		if err != nil {
			return nil, err
		}
		if len(s.entries) > 0 || s.text != "" {
			out = append(out, s)
		}
	}
	return out, nil
}

// entryWriter turns steps into entries.
type entryWriter struct {
	plan  *plan.Plan
	view  view
	names namer
	folds folds
}

func (w entryWriter) section(stage plan.Stage) (section, error) {
	s := section{name: clean(string(stage.Name))}
	var waits, records []string
	for _, wave := range stage.Waves {
		for i := range wave.Steps {
			step := &wave.Steps[i]
			switch {
			case step.Op == plan.OpRecord:
				records = append(records, recordText(step)...)
			case !selects(w.view.only, step.Object) || w.counted(step):
			case step.Op == plan.OpWait:
				waits = append(waits, w.names.name(step.Object))
			default:
				e, err := w.entry(step)
				if err != nil {
					return section{}, err
				}
				s.entries = append(s.entries, e)
			}
		}
	}
	if len(w.view.only) > 0 || stage.Name == plan.StagePending && !w.view.full && !fails(stage) {
		records = nil
	}
	if len(waits) > 0 {
		const shown = 8
		s.text = list(waits, w.limit(shown))
	}
	if len(records) > 0 {
		s.text = strings.Join(records, ", ")
	}
	s.limit(w.limit(w.view.entries))
	return s, nil
}

func (w entryWriter) limit(n int) int {
	if w.view.full {
		return 0
	}
	return n
}

// counted says whether a step is only counted, not printed.
func (w entryWriter) counted(s *plan.Step) bool {
	switch {
	case s.Op == plan.OpNone:
		return len(w.view.only) == 0
	case w.folds.alone[s.ID]:
		return !w.folds.restarts[s.ID]
	}
	return false
}

func fails(stage plan.Stage) bool {
	for _, wave := range stage.Waves {
		for _, s := range wave.Steps {
			if s.Record != nil && len(s.Record.Fail) > 0 {
				return true
			}
		}
	}
	return false
}

// limit keeps the first n entries, and all that remove something.
func (s *section) limit(n int) {
	if n < 1 || len(s.entries) <= n {
		return
	}
	hidden := map[string]int{}
	var order []string
	kept := s.entries[:0:0]
	for i, e := range s.entries {
		if i < n || destructive(e.op) {
			kept = append(kept, e)
			continue
		}
		word := verb(e.op)
		if hidden[word]++; hidden[word] == 1 {
			order = append(order, word)
		}
	}
	if len(kept) == len(s.entries) {
		return
	}
	var parts []string
	for _, word := range order {
		parts = append(parts, fmt.Sprintf("%d to %s", hidden[word], word))
	}
	s.hidden = fmt.Sprintf("%d more: %s", len(s.entries)-len(kept), strings.Join(parts, ", "))
	if len(order) == 1 {
		s.hidden = fmt.Sprintf("%d more to %s", hidden[order[0]], order[0])
	}
	s.entries = kept
}

func verb(op plan.Op) string {
	switch op {
	case plan.OpPatch:
		return "change"
	case plan.OpNone, plan.OpCreate, plan.OpReplace, plan.OpRecreate, plan.OpDelete, plan.OpKeep, plan.OpAdopt,
		plan.OpRun, plan.OpWait, plan.OpRecord:
		return string(op)
	}
	return clean(string(op))
}

// recordText is "revision 8 deployed", "revision 7 superseded".
func recordText(s *plan.Step) []string {
	r := s.Record
	if r == nil {
		return nil
	}
	var out []string
	if len(r.Fail) > 0 {
		out = append(out, revisions(r.Fail)+" failed (it was interrupted)")
	}
	if r.Status != "" {
		out = append(out, fmt.Sprintf("revision %d %s", r.Revision, clean(string(r.Status))))
	}
	if len(r.Supersede) > 0 {
		out = append(out, revisions(r.Supersede)+" superseded")
	}
	if len(r.Prune) > 0 {
		out = append(out, revisions(r.Prune)+" removed from the history")
	}
	return out
}

// revisions is "revision 7", "revisions 5 and 7" or "revisions 1–4, 6".
func revisions(numbers []int) string {
	sorted := slices.Sorted(slices.Values(numbers))
	var parts []string
	for i := 0; i < len(sorted); {
		j := i
		for j+1 < len(sorted) && sorted[j+1] == sorted[j]+1 {
			j++
		}
		switch j - i {
		case 0:
			parts = append(parts, fmt.Sprint(sorted[i]))
		case 1:
			parts = append(parts, fmt.Sprint(sorted[i]), fmt.Sprint(sorted[j]))
		default:
			parts = append(parts, fmt.Sprintf("%d–%d", sorted[i], sorted[j]))
		}
		i = j + 1
	}
	if len(sorted) == 1 {
		return "revision " + parts[0]
	}
	return "revisions " + strings.Join(parts, ", ")
}

// hookText is "run to completion (weight -5), then delete".
func hookText(s *plan.Step) string {
	text := "create"
	if s.Object.Kind == "Job" || s.Object.Kind == "Pod" {
		text = "run to completion"
	}
	if s.Hook == nil {
		return text
	}
	if s.Hook.Weight != 0 {
		text += fmt.Sprintf(" (weight %d)", s.Hook.Weight)
	}
	succeeded, failed := s.Hook.Deletes(manifest.HookSucceeded), s.Hook.Deletes(manifest.HookFailed)
	if s.Before != nil && s.Hook.Deletes(manifest.BeforeHookCreation) {
		text = "delete the last run's, then " + text
	}
	switch {
	case succeeded && failed:
		return text + ", then delete"
	case succeeded:
		return text + ", then delete unless it failed"
	case failed:
		return text + ", delete only if it failed"
	}
	return text + ", keep"
}
