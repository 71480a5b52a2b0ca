package engine

import (
	"cmp"
	"slices"
	"text/template"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/plan"
)

// valuesChanges lists the user's values that changed since the last successful revision, then the
// chart's changed defaults.
func valuesChanges(h release.History, next *release.Revision) []plan.Change {
	return append(userChanges(h, next), defaultsChanges(h, next)...)
}

// userChanges lists how the values in effect have changed where the user's have: a value that is newly set, or no longer
// set, is compared with the chart's default, and does not count if it equals that.
func userChanges(h release.History, next *release.Revision) []plan.Change {
	prev := h.LastSuccessful()
	if prev == nil {
		return nil
	}
	var out []plan.Change
	for _, c := range userDiff("", given{prev.Config, true, effective(prev)}, given{next.Config, true, effective(next)}) {
		out = append(out, plan.Change{Path: c.Path, From: c.From, To: c.To, Cause: plan.CauseValues})
	}
	return out
}

// given is a value as the user sets it, and as it is in effect; nil where there is none. isSet tells a null, which
// removes a default, from no value of the user's.
type given struct {
	user      any
	isSet     bool
	effective any
}

func (g given) at(key string) given {
	user, _ := g.user.(map[string]any)
	effective, _ := g.effective.(map[string]any)
	value, isSet := user[key]
	return given{value, isSet, effective[key]}
}

// userDiff compares values in effect where the user's differ. A list of the user's replaces the whole default.
func userDiff(path string, before, after given) []fielddiff.Change {
	from, fromTable := before.user.(map[string]any)
	to, toTable := after.user.(map[string]any)
	keys := jsontree.Keys(from, to)
	switch {
	case len(keys) > 0 && (fromTable || !before.isSet) && (toTable || !after.isSet):
		var out []fielddiff.Change
		for _, key := range keys {
			out = append(out, userDiff(jsontree.Join(path, key), before.at(key), after.at(key))...)
		}
		return out
	case before.isSet == after.isSet && apitypes.Equal(before.user, after.user, nil):
		return nil
	}
	return fielddiff.At(path, before.effective, after.effective, nil)
}

// defaultsChanges lists the chart's defaults that have changed since the last successful revision,
// or are new and not empty, where the user sets no value. It skips defaults that have no effect
// because of "enabled: false" or "create: false" in a table that contains them. Changed defaults
// come before new ones.
func defaultsChanges(h release.History, next *release.Revision) []plan.Change {
	prev := h.LastSuccessful()
	if prev == nil || prev.Chart == nil || next.Chart == nil {
		return nil
	}
	before, after := recordedDefaults(prev.Chart, next.Config), recordedDefaults(next.Chart, next.Config)
	var out []plan.Change
	for _, c := range fielddiff.At("", before, after, nil) {
		parts := jsontree.SplitPath(c.Path)
		copied := slices.Index(parts, "global") > 0 // copied down to a subchart
		if c.To == nil || c.From == nil && isEmpty(c.To) || copied || switchedOff(after, parts) {
			continue
		}
		out = append(out, plan.Change{Path: c.Path, From: c.From, To: c.To, Cause: plan.CauseChart})
	}
	slices.SortStableFunc(out, func(a, b plan.Change) int { return cmp.Compare(rankOf(a), rankOf(b)) })
	return out
}

// rankOf returns a rank that sorts changed defaults before new ones.
func rankOf(c plan.Change) int {
	if c.From == nil {
		return 1
	}
	return 0
}

// isEmpty reports whether a template treats a value as false.
func isEmpty(v any) bool {
	truth, _ := template.IsTrue(v)
	return !truth
}

// switchedOff reports whether a table on the path to a value has a switch that is off. The value
// itself may be the switch.
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

// recordedDefaults returns the user's values merged with the chart's defaults as a record holds them:
// without subcharts, whose defaults are among the chart's. With them, a null default for a subchart's
// value would differ from the same chart in a record, since only templates see the subchart's own.
func recordedDefaults(c *chart.Chart, user map[string]any) map[string]any {
	recorded := *c
	recorded.SetDependencies()
	return effective(&release.Revision{Chart: &recorded, Config: user})
}

// effective returns the revision's values merged with the chart's defaults, as templates see them.
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
