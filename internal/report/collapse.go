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
	what     string // "label" or "annotation"
	key      string
	template bool
	from, to string
}

// collapsed are the changes of labels that many objects share, and that are shown once.
type collapsed struct {
	// objects are the IDs of the steps with each change.
	objects map[label][]string
	// alone are the steps without other changes.
	alone map[string]bool
	// restarts are the objects among them whose pods are replaced.
	restarts map[string]bool
}

// newFolds returns the changes of labels that objects share; with full there are none.
func newFolds(p *plan.Document, full bool) collapsed {
	f := collapsed{objects: map[label][]string{}, alone: map[string]bool{}, restarts: map[string]bool{}}
	if full {
		return f
	}
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		seen := map[label]bool{}
		for _, c := range s.Changes {
			if l, ok := labelOf(c); ok && foldable(s) && !seen[l] {
				seen[l] = true
				f.objects[l] = append(f.objects[l], s.ID)
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

// labelOf recognises changes of labels and annotations, except drift, which is always shown.
func labelOf(c plan.Change) (label, bool) {
	if c.Cause == plan.CauseDrift || c.Sensitive {
		return label{}, false
	}
	parts := jsontree.Fields(c.Path)
	n := len(parts)
	selector := n >= 2 && (parts[n-2] == "matchLabels" || n == 3 && parts[1] == "selector")
	metadata := n >= 3 && parts[n-3] == "metadata"
	if !metadata || selector {
		return label{}, false
	}
	l := label{what: strings.TrimSuffix(parts[n-2], "s"), key: parts[n-1], template: n > 3, from: side(c.From), to: side(c.To)}
	return l, true
}

func side(v any) string {
	if v == nil {
		return ""
	}
	return value(v)
}

// lines returns a line for each set of objects with the same folded changes: "16 objects: labels
// app 1 → 2, helm.sh/chart web-1 → web-2".
func (f collapsed) lines() []string {
	groups := map[string][]label{}
	for l, ids := range f.objects {
		if len(ids) >= minFold {
			key := fmt.Sprint(l.template, ids)
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
		n, where := len(f.objects[labels[0]]), ""
		if labels[0].template {
			where = " in their pod template"
		}
		texts := make([]string, len(labels))
		for i, l := range labels {
			texts[i] = l.sentence()
		}
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
	what := l.what + " " + escape.Line(l.key)
	switch {
	case l.from == "":
		return "new " + what + " " + cut(l.to, 60)
	case l.to == "":
		return what + " removed (was " + cut(l.from, 60) + ")"
	}
	from, to := shortDigests(l.from, l.to)
	return what + " " + cut(from, 60) + " → " + cut(withoutName(from, to), 60)
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
