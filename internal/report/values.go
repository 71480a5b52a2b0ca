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
	limit := 100
	if v.full {
		limit = 0
	}
	var added []string
	for _, c := range p.Values {
		if isText(c) {
			c.From, c.To = firstLine(c.From), firstLine(c.To)
		}
		text := escape.Line(c.Path) + " " + pair(c, limit)
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

func firstLine(v any) any {
	s, ok := v.(string)
	if !ok || !severalLines(s) {
		return v
	}
	line, _, _ := strings.Cut(s, "\n")
	return line + " …"
}
