package plan

import (
	"fmt"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// SplitByCompletion splits the objects that a plan writes into those whose steps have succeeded and
// the others, both in the plan's order. ended holds the IDs of the steps that have succeeded. The
// objects of NotUndone are the last of the others.
func (p *Document) SplitByCompletion(ended map[string]bool) (done, open []manifest.ID) {
	p.Steps(func(_ StageName, s *Step) {
		switch {
		case !s.Writes():
		case ended[s.ID]:
			done = append(done, s.Object)
		default:
			open = append(open, s.Object)
		}
	})
	for _, left := range p.NotUndone {
		open = append(open, left.Object)
	}
	return done, open
}

// SummarizeObjects lists the first ten objects and says how many more there are.
func SummarizeObjects(objects []manifest.ID) string {
	const most = 10
	names := make([]string, 0, most)
	for _, id := range objects[:min(most, len(objects))] {
		names = append(names, id.String())
	}
	text := strings.Join(names, ", ")
	if more := len(objects) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
