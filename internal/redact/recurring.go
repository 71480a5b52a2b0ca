package redact

import (
	"maps"
	"slices"

	"github.com/kubectl-release/kubectl-release/plan"
)

// Recurring returns those of a plan's Secrets, or parts of them, that appear in the plan in any
// form. A template may have read every Secret of the cluster.
func Recurring(p *plan.Plan) [][]byte {
	if len(p.Secrets) == 0 {
		return nil
	}
	found := newSecrets()
	for _, value := range p.Secrets {
		found.add(string(value))
	}
	found.exempt(nil)
	m := newMask(found, "")
	values := map[string]bool{}
	texts(p, func(text string) {
		for _, at := range m.find(text) {
			if at.Value == "" { // "" was not searched to its end: any of them may be there
				maps.Copy(values, found.added)
			} else {
				values[at.Value] = true
			}
		}
	})
	out := make([][]byte, 0, len(values))
	for _, value := range slices.Sorted(maps.Keys(values)) {
		out = append(out, []byte(value))
	}
	return out
}

// texts visits where the chart is from, what was rendered, and what it is compared with.
func texts(p *plan.Plan, visit func(string)) {
	if from := p.ChartSource; from != nil {
		visit(from.Reference)
		visit(from.Repository)
		visit(from.URL)
	}
	if lock := p.ChartLock; lock != nil {
		visit(lock.OutOfSync)
	}
	if r := p.Record; r != nil {
		visit(r.Manifest)
		visit(r.Info.Notes)
		for _, h := range r.Hooks {
			visit(h.Manifest)
		}
	}
	for _, problem := range p.Problems {
		visit(problem.What)
	}
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Before != nil {
			textsIn(s.Before.Object, visit)
		}
	})
}

func textsIn(v any, visit func(string)) {
	switch v := v.(type) {
	case string:
		visit(v)
	case []any:
		for _, item := range v {
			textsIn(item, visit)
		}
	case map[string]any:
		for key, value := range v {
			visit(key)
			textsIn(value, visit)
		}
	}
}
