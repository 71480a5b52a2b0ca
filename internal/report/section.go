package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// sections returns the stages with something to print, in the order of the run.
func sections(p *plan.Document, v view, names namer, f collapsed) ([]section, error) {
	w := entryWriter{plan: p, view: v, names: names, folds: f, rooms: roomsOf(p)}
	folded, last := append(f.lines(w.namesOfMany()), migrationLine(p)...), lastFolded(p)
	var out []section
	for i, stage := range p.Stages {
		s, err := w.section(stage)
		if err != nil {
			return nil, err
		}
		if i == last {
			s.folded = folded
		}
		if len(s.entries) > 0 || s.text != "" || len(s.folded) > 0 {
			out = append(out, s)
		}
	}
	return out, nil
}

// lastFolded returns the last stage with objects whose changes may be folded. The folded changes are
// shown there, where they can't be mistaken for changes of hooks or the record.
func lastFolded(p *plan.Document) int {
	last := -1
	for i, stage := range p.Stages {
		for _, wave := range stage.Waves {
			if slices.ContainsFunc(wave.Steps, func(s plan.Step) bool { return foldable(&s) }) {
				last = i
			}
		}
	}
	return last
}

// entryWriter turns steps into entries.
type entryWriter struct {
	plan  *plan.Document
	view  view
	names namer
	folds collapsed
	rooms map[roomKey]*plan.Step
}

func (w entryWriter) section(stage plan.Stage) (section, error) {
	s := section{name: escape.Line(string(stage.Name))}
	var waits, records []string
	until, same := "", 0
	for _, step := range shownOrder(stage) {
		switch {
		case step.Op == plan.OpRecord:
			records = append(records, recordText(w.plan, step)...)
		case !manifest.Selects(w.view.only, step.Object) || w.counted(step):
		case w.asBefore(step):
			same++
		case step.Op == plan.OpWait:
			waits = append(waits, w.names.name(step.Object))
			until = escape.Message(step.Why)
		default:
			e, err := w.entry(step)
			if err != nil {
				return section{}, err
			}
			s.entries = append(s.entries, e)
		}
	}
	if len(w.view.only) > 0 || stage.Name == plan.StagePending && !w.view.full && !fails(stage) {
		records = nil
	}
	if len(waits) > 0 {
		const shown = 8
		s.text = list(waits, w.limit(shown))
		if len(s.entries) > 0 {
			s.text = "then wait for " + s.text
		}
		if until != "until it is ready" && until != "" {
			s.text += ", " + until
		}
	}
	if same > 0 {
		s.text = Count(same, "hook as before", "hooks as before")
	}
	if len(records) > 0 {
		s.text = strings.Join(records, ", ")
	}
	s.entries = w.joinAlike(s.entries)
	s.limit(w.limit(w.view.entries))
	return s, nil
}

func (w entryWriter) limit(n int) int {
	if w.view.full {
		return 0
	}
	return n
}

// namesOfMany returns how many of several objects are named where they share a line; 0 means all of them.
func (w entryWriter) namesOfMany() int {
	if w.view.bodies {
		return 0
	}
	return w.limit(3)
}

// shownOrder returns a stage's steps in the order in which they are shown: by their consequences.
// Hooks are shown in the order in which they run.
func shownOrder(stage plan.Stage) []*plan.Step {
	var steps []*plan.Step
	rank := map[*plan.Step]int{}
	byConsequence := stage.Name == plan.StageResources || stage.Name == plan.StageCRDs
	for _, wave := range stage.Waves {
		for i := range wave.Steps {
			s := &wave.Steps[i]
			if steps = append(steps, s); byConsequence {
				rank[s] = s.Consequence()
			}
		}
	}
	slices.SortStableFunc(steps, func(a, b *plan.Step) int { return cmp.Compare(rank[a], rank[b]) })
	return steps
}

// asBefore reports whether a step runs an unchanged hook that needs no review.
func (w entryWriter) asBefore(s *plan.Step) bool {
	if s.Op != plan.OpRun || s.InPlace() || s.Hook == nil || s.Hook.Since != plan.HookSame || w.view.full || len(w.view.only) > 0 {
		return false
	}
	room := w.rooms[roomOf(s)]
	return room == nil || room.Risk == ""
}

// counted reports whether a step is only counted, or shown with its hook.
func (w entryWriter) counted(s *plan.Step) bool {
	switch {
	case s.HookDeletion():
		return true
	case s.Op == plan.OpNone:
		return len(w.view.only) == 0
	case w.folds.alone[s.ID]:
		return s.LabelsOnly()
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

// limit keeps the first n entries, and all that delete something.
func (s *section) limit(n int) {
	if n < 1 || len(s.entries) <= n {
		return
	}
	hidden, all := map[string]int{}, 0
	var order []string
	kept := s.entries[:0:0]
	for i, e := range s.entries {
		if i < n || destructive(e.op) {
			kept = append(kept, e)
			continue
		}
		word := verb(e.op)
		if hidden[word] == 0 {
			order = append(order, word)
		}
		hidden[word] += max(e.objects, 1)
		all += max(e.objects, 1)
	}
	if len(kept) == len(s.entries) {
		return
	}
	var parts []string
	for _, word := range order {
		parts = append(parts, fmt.Sprintf("%d to %s", hidden[word], word))
	}
	s.hidden = fmt.Sprintf("%d more: %s", all, strings.Join(parts, ", "))
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
	return escape.Line(string(op))
}
