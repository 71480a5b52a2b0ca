package engine

import (
	"reflect"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/plan"
)

// valuesChanges lists the user's values that changed since the last revision
// that was up. Where a value was not set before, or is no more, the chart's
// default stands in, and where that is the same, nothing has changed.
func valuesChanges(h release.History, next *release.Revision) []plan.Change {
	prev := h.LastSuccessful()
	if prev == nil {
		return nil
	}
	before, after := effective(prev), effective(next)
	var out []plan.Change
	for _, c := range fielddiff.Compare(map[string]any{"values": prev.Config}, map[string]any{"values": next.Config}) {
		path := trimValues(c.Path)
		if path == "" {
			continue
		}
		change := plan.Change{Path: path, From: c.From, To: c.To, Cause: plan.CauseValues}
		if change.From == nil {
			change.From = at(before, path)
		}
		if change.To == nil {
			change.To = at(after, path)
		}
		if !reflect.DeepEqual(change.From, change.To) { // else the chart's default is what was set
			out = append(out, change)
		}
	}
	return out
}

func effective(r *release.Revision) map[string]any {
	if r.Chart == nil {
		return r.Config
	}
	merged, err := values.Coalesce(r.Chart, r.Config)
	if err != nil {
		return r.Config
	}
	return merged
}

// trimValues takes the wrapper off a path that Diff made.
func trimValues(path string) string { return strings.TrimPrefix(path, "values.") }

// at is the value at a dotted path, nil when there is none. Paths into lists
// and keys with dots have no default.
func at(table map[string]any, path string) any {
	var value any = table
	for _, key := range strings.Split(path, ".") {
		fields, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = fields[key]
	}
	return value
}
