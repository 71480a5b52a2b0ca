package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/plan"
)

// recordText returns lines such as "revision 8 deployed" and "revision 7 superseded".
func recordText(p *plan.Document, s *plan.Step) []string {
	r := s.Record
	if r == nil {
		return nil
	}
	var out []string
	if len(r.Fail) > 0 {
		out = append(out, revisions(r.Fail)+" failed (interrupted)")
	}
	switch {
	case p.Operation == plan.Test:
		out = append(out, fmt.Sprintf("the outcome, in revision %d", r.Revision))
	case r.Status != "" && !slices.Contains(r.Prune, r.Revision):
		out = append(out, fmt.Sprintf("revision %d %s", r.Revision, escape.Line(string(r.Status))))
	}
	if len(r.Supersede) > 0 {
		out = append(out, revisions(r.Supersede)+" superseded")
	}
	if len(r.Prune) > 0 {
		out = append(out, revisions(r.Prune)+" removed from the history")
	}
	return out
}

// revisions returns "revision 7", "revisions 5 and 7" or "revisions 1–4, 6".
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
