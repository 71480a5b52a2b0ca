package report

import (
	"fmt"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/plan"
)

// valueChanges returns the changes of the user's values and of the chart's defaults.
func valueChanges(p *plan.Document, v view) (user, defaults []string) {
	const limit = 100
	var added []string
	for _, c := range p.Values {
		text := escape.Line(c.Path) + " "
		if v.full {
			text += pair(c, 0)
		} else {
			text += brief(c, limit)
		}
		switch {
		case c.Cause != plan.CauseChart:
			user = append(user, text)
		case v.full || isTold(c) && c.From != nil:
			defaults = append(defaults, text)
		case isTold(c):
			added = append(added, text)
		}
	}
	const few = 2
	if len(added) > few {
		added = []string{fmt.Sprintf("%d new ones", len(added))}
	}
	defaults = append(defaults, added...)
	return user, defaults
}

// isTold reports whether a default is shown in the header: not a new map or list, which belongs to
// a new feature, and not one of an image, since images are shown elsewhere.
func isTold(c plan.Change) bool {
	if c.From == nil && !jsontree.IsScalar(c.To) {
		return false
	}
	parts := jsontree.SplitPath(c.Path)
	return len(parts) < 2 || !strings.HasSuffix(strings.ToLower(parts[len(parts)-2]), "image")
}
