package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/plan"
)

// grouped merges rows with equal changes: the same chart, operation, objects, risks and notes, and
// the same changes of fields. Where nothing is planned, the same is said of each.
func grouped(rows []setRow) []setRow {
	first := map[string]int{}
	var out []setRow
	for _, row := range rows {
		key := row.signature()
		if i, ok := first[key]; ok {
			out[i].like = append(out[i].like, row)
			continue
		}
		first[key] = len(out)
		out = append(out, row)
	}
	return out
}

// signature is equal for equal changes, whatever the names of the releases and their namespaces.
func (r setRow) signature() string {
	if r.Plan == nil {
		return strings.Join([]string{r.op, r.chart, r.notes}, "\n")
	}
	parts := []string{r.chart, string(r.Plan.Operation), r.objects, r.risks, r.notes}
	r.Plan.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Op == plan.OpNone || s.Op == plan.OpRecord {
			return
		}
		var text strings.Builder
		text.WriteString(string(s.Op) + s.Object.Kind + " " + s.Object.Name)
		for _, c := range s.Changes {
			fmt.Fprint(&text, c.Path, c.From, c.To)
		}
		if s.Body != nil && len(s.Changes) == 0 { // all of it is new
			text.WriteString(value(s.Body.Object))
		}
		parts = append(parts, text.String())
	})
	slices.Sort(parts[5:])
	text := strings.ReplaceAll(strings.Join(parts, "\n"), r.Release.Name, "*")
	return tokens.ReplaceAllString(strings.ReplaceAll(text, r.Release.Namespace, "**"), "")
}

// tokens matches those of redacted values, which differ from plan to plan.
var tokens = regexp.MustCompile(`\(sensitive [0-9a-f]{4}…\)`)

// others returns " and 3 others", "" for a row of one release.
func (r setRow) others() string {
	if len(r.like) == 0 {
		return ""
	}
	return " and " + Count(len(r.like), "other", "others")
}

// otherNames returns the names of the releases in like.
func (r setRow) otherNames() []string {
	var out []string
	for _, other := range r.like {
		out = append(out, other.name)
	}
	return out
}
