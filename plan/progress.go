package plan

import (
	"fmt"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// SplitByCompletion splits the objects that a plan writes into those whose steps have succeeded,
// by the steps' IDs, and the others. Both are in the plan's order.
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
	return done, open
}

// SummarizeObjects names the first few objects and says how many more there are.
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
