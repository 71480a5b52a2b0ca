package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/plan"
)

// minFold is the number of objects from which on the same change of a label is shown on one line.
const minFold = 3

// label is a change of a label or annotation, wherever it is in an object.
type label struct {
	field    string // "labels" or "annotations"
	key      string
	template bool
	from, to string
}

// collapsed are the changes of labels that many objects share, and that are shown once.
type collapsed struct {
	// objects are the names of the objects with each change.
	objects map[label][]string
	// alone are the steps without other changes.
	alone map[string]bool
	// restarts are the objects among them whose pods are replaced.
	restarts map[string]bool
}

// newFolds returns the changes of labels that objects share; with full there are none.
func newFolds(p *plan.Document, names namer, full bool) collapsed {
	f := collapsed{objects: map[label][]string{}, alone: map[string]bool{}, restarts: map[string]bool{}}
	if full {
		return f
	}
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		seen := map[label]bool{}
		for _, c := range s.Changes {
			if l, ok := labelOf(c); ok && foldable(s) && !seen[l] {
				seen[l] = true
				f.objects[l] = append(f.objects[l], names.name(s.Object))
			}
		}
	})
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		f.alone[s.ID] = s.Op == plan.OpPatch && len(s.Changes) > 0
		for _, c := range s.Changes {
			l, _ := labelOf(c)
			f.alone[s.ID] = f.alone[s.ID] && f.has(s, c)
			f.restarts[s.ID] = f.restarts[s.ID] || f.has(s, c) && l.template
		}
	})
	return f
}

// has reports whether a step's change is folded.
func (f collapsed) has(s *plan.Step, c plan.Change) bool {
	l, ok := labelOf(c)
	return ok && foldable(s) && len(f.objects[l]) >= minFold
}

func foldable(s *plan.Step) bool {
	return s.Op == plan.OpPatch || s.Op == plan.OpReplace || s.Op == plan.OpAdopt
}

// labelOf recognises changes of labels and annotations, except drift, which is always shown, and values that
// don't fit on a line.
func labelOf(c plan.Change) (label, bool) {
	const widest = 64 // a checksum
	if c.Cause == plan.CauseDrift || c.Sensitive || isText(c) {
		return label{}, false
	}
	parts := jsontree.Fields(c.Path)
	n := len(parts)
	if n < 3 || parts[n-3] != "metadata" || parts[n-2] != "labels" && parts[n-2] != "annotations" {
		return label{}, false
	}
	if parts[n-2] == "labels" && !c.OfLabel() { // access or the admission of pods depends on it
		return label{}, false
	}
	l := label{field: parts[n-2], key: parts[n-1], template: n > 3, from: side(c.From), to: side(c.To)}
	return l, max(width(l.from), width(l.to)) <= widest
}

func side(v any) string {
	if v == nil {
		return ""
	}
	return value(v)
}

// lines returns a line for each set of objects with the same folded changes: "16 objects: label helm.sh/chart
// web-1 → 2". It names at most so many of the objects (0: all), unless only the chart's labels and checksums change.
func (f collapsed) lines(named int) []string {
	groups := map[string][]label{}
	for l, names := range f.objects {
		if len(names) >= minFold {
			key := fmt.Sprintf("%t %q", l.template, names)
			groups[key] = append(groups[key], l)
		}
	}
	type line struct {
		objects int
		text    string
	}
	var lines []line
	for _, labels := range groups {
		slices.SortFunc(labels, func(a, b label) int {
			return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
		})
		names, where := f.objects[labels[0]], ""
		if labels[0].template {
			where = " in their pod template"
		}
		if slices.ContainsFunc(labels, func(l label) bool { return !isNoise(l.field, l.key) }) {
			where += " (" + list(names, named) + ")"
		}
		texts := make([]string, len(labels))
		for i, l := range labels {
			texts[i] = l.sentence()
		}
		n := len(names)
		lines = append(lines, line{n, fmt.Sprintf("%d objects%s: %s", n, where, strings.Join(texts, ", "))})
	}
	slices.SortFunc(lines, func(a, b line) int { return cmp.Or(cmp.Compare(b.objects, a.objects), cmp.Compare(a.text, b.text)) })
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.text
	}
	return out
}

// sentence returns text such as "label helm.sh/chart web-1.4.2 → 1.5.0".
func (l label) sentence() string {
	what := strings.TrimSuffix(l.field, "s") + " " + escape.Line(l.key)
	switch {
	case l.from == "":
		return "new " + what + " " + l.to
	case l.to == "":
		return what + " removed (was " + l.from + ")"
	}
	from, to := shortDigests(l.from, l.to)
	return what + " " + from + " → " + withoutName(from, to)
}

// withoutName removes the chart's name from to if from is another version of the same chart.
func withoutName(from, to string) string {
	same := 0
	for same < min(len(from), len(to)) && from[same] == to[same] {
		same++
	}
	name := strings.LastIndexByte(to[:same], '-') + 1
	if version := strings.TrimPrefix(to[name:], "v"); name > 0 && version != "" && version[0] >= '0' && version[0] <= '9' {
		return to[name:]
	}
	return to
}
