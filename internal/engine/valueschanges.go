package engine

import (
	"cmp"
	"slices"
	"strings"
	"text/template"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/plan"
)

// valuesChanges lists the user's values that changed since the last revision
// that was up, and the chart's defaults below them.
func valuesChanges(h release.History, next *release.Revision) []plan.Change {
	return append(userChanges(h, next), defaultsChanges(h, next)...)
}

// userChanges lists the user's values that changed. Where a value was not set before, or
// is no more, the chart's default stands in, and where that is the same, nothing has
// changed.
func userChanges(h release.History, next *release.Revision) []plan.Change {
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
		if !jsontree.Same(jsontree.Canonical(change.From), jsontree.Canonical(change.To)) { // else the chart's default is what was set
			out = append(out, change)
		}
	}
	return out
}

// defaultsChanges lists the chart's defaults that are others, or new and not empty, since
// the last revision that was up, under the values of the next one: what the user has set
// is no default. What is switched off, by an "enabled: false" or "create: false" of a
// table that it is in, changes nothing and is left out. Others come before new ones.
func defaultsChanges(h release.History, next *release.Revision) []plan.Change {
	prev := h.LastSuccessful()
	if prev == nil || prev.Chart == nil || next.Chart == nil {
		return nil
	}
	before, after := effective(&release.Revision{Chart: prev.Chart, Config: next.Config}), effective(next)
	var out []plan.Change
	for _, c := range fielddiff.Compare(map[string]any{"values": before}, map[string]any{"values": after}) {
		path := trimValues(c.Path)
		parts := jsontree.SplitPath(path)
		copied := slices.Index(parts, "global") > 0 // handed down to a subchart
		if path == "" || c.To == nil || c.From == nil && isEmpty(c.To) || copied || switchedOff(after, parts) {
			continue
		}
		out = append(out, plan.Change{Path: path, From: c.From, To: c.To, Cause: plan.CauseChart})
	}
	slices.SortStableFunc(out, func(a, b plan.Change) int { return cmp.Compare(rankOf(a), rankOf(b)) })
	return out
}

// rankOf puts defaults that are others before new ones.
func rankOf(c plan.Change) int {
	if c.From == nil {
		return 1
	}
	return 0
}

// isEmpty reports whether a template takes a value as false.
func isEmpty(v any) bool {
	truth, _ := template.IsTrue(v)
	return !truth
}

// switchedOff reports whether a table on the way to a value has a switch that is off. The
// value may be the switch itself.
func switchedOff(table map[string]any, path []string) bool {
	for i, key := range path {
		for _, name := range []string{"enabled", "create"} {
			if table[name] == false && (i < len(path)-1 || key != name) {
				return true
			}
		}
		below, ok := table[key].(map[string]any)
		if !ok {
			return false
		}
		table = below
	}
	return false
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
