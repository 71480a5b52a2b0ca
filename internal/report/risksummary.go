package report

import (
	"fmt"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Dangers counts a plan's risks on one line, the most severe first: "Risks: 1 loss
// of data, 2 deletions". It returns "" when there are none.
func Dangers(c plan.RiskCounts) string {
	var parts []string
	for _, part := range []struct {
		n         int
		one, many string
	}{
		{c.Data, "loss of data", "losses of data"},
		{c.Delete, "deletion", "deletions"},
		{c.Recreate, "delete-and-create", "deletes-and-creates"},
		{c.ScaleDown, "scale-down", "scale-downs"},
		{c.Stateful, "change of what data depends on", "changes of what data depends on"},
	} {
		if part.n > 0 {
			parts = append(parts, Count(part.n, part.one, part.many))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "Risks: " + strings.Join(parts, ", ")
}

// statefulChange returns text such as "has volumes and changes: spec.serviceName a → b and 1 more".
func statefulChange(s *plan.Step) string {
	text := "changes"
	if s.HasVolumes() {
		text = "has volumes and changes"
	}
	c, others, ok := s.MostSevere()
	if !ok {
		return text
	}
	text += ": " + escape.Line(c.Path) + " " + mostSeverePair(c)
	if others > 0 {
		text += fmt.Sprintf(" and %d more", others)
	}
	return text
}

// mostSeverePair returns a change in at most 60 characters; an image is shortened to its name and versions.
func mostSeverePair(c plan.Change) string {
	if text, ok := imageChange(c); ok {
		return text
	}
	const limit = 60
	return pair(c, limit)
}

// imageChange is imagePair for a change of an image.
func imageChange(c plan.Change) (text string, ok bool) {
	from, fromOK := c.From.(string)
	to, toOK := c.To.(string)
	if !strings.HasSuffix(c.Path, ".image") || !fromOK || !toOK || c.Sensitive {
		return "", false
	}
	return imagePair(from, to), true
}
