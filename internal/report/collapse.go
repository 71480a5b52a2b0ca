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

// minFold is in how many objects the same change of a label is folded to one line.
const minFold = 3

// label is a change of a label or annotation, wherever it is in an object.
type label struct {
	key      string
	template bool
	from, to string
}

// collapsed are the label changes that many objects share. They are told once.
type collapsed struct {
	objects map[label]int
	// alone holds the steps that change nothing else.
	alone map[string]bool
	// restarts are the objects among them whose pods are replaced.
	restarts map[string]bool
}

// newFolds folds nothing when everything is to be shown.
func newFolds(p *plan.Document, full bool) collapsed {
	f := collapsed{objects: map[label]int{}, alone: map[string]bool{}, restarts: map[string]bool{}}
	if full {
		return f
	}
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		seen := map[label]bool{}
		for _, c := range s.Changes {
			if l, ok := labelOf(c); ok && foldable(s) && !seen[l] {
				seen[l] = true
				f.objects[l]++
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

// has says whether a step's change is folded.
func (f collapsed) has(s *plan.Step, c plan.Change) bool {
	l, ok := labelOf(c)
	return ok && foldable(s) && f.objects[l] >= minFold
}

func foldable(s *plan.Step) bool {
	return s.Op == plan.OpPatch || s.Op == plan.OpReplace || s.Op == plan.OpAdopt
}

// labelOf recognises changes of labels and annotations. Drift is never noise.
func labelOf(c plan.Change) (label, bool) {
	if c.Cause == plan.CauseDrift || c.Sensitive {
		return label{}, false
	}
	parts := jsontree.SplitPath(c.Path)
	n := len(parts)
	selector := n >= 2 && (parts[n-2] == "matchLabels" || n == 3 && parts[1] == "selector")
	metadata := n >= 3 && parts[n-3] == "metadata"
	if !metadata || selector {
		return label{}, false
	}
	l := label{key: parts[n-1], template: n > 3, from: side(c.From), to: side(c.To)}
	return l, true
}

func side(v any) string {
	if v == nil {
		return ""
	}
	return value(v)
}

// lines tell the folded changes: "16 objects also get …".
func (f collapsed) lines() []string {
	var labels []label
	for l, n := range f.objects {
		if n >= minFold {
			labels = append(labels, l)
		}
	}
	slices.SortFunc(labels, func(a, b label) int {
		return cmp.Or(cmp.Compare(f.objects[b], f.objects[a]), cmp.Compare(a.key, b.key), compareBool(a.template, b.template),
			cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	var lines []string
	for _, l := range labels {
		where := ""
		if l.template {
			where = " in their pod template (pods restart)"
		}
		lines = append(lines, fmt.Sprintf("%d objects also %s%s", f.objects[l], l.sentence(), where))
	}
	return lines
}

func (l label) sentence() string {
	key := escape.Line(l.key)
	switch {
	case l.from == "":
		return fmt.Sprintf("get %s %s", key, cut(l.to, 60))
	case l.to == "":
		return fmt.Sprintf("lose %s %s", key, cut(l.from, 60))
	}
	from, to := shortDigests(l.from, l.to)
	return strings.TrimSpace(fmt.Sprintf("get %s %s → %s", key, cut(from, 60), cut(to, 60)))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
