package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-release/kubectl-release/plan"
)

// title is "Release shop/web: upgrade 7 → 8".
func title(p *plan.Plan) string {
	what := clean(string(p.Operation))
	if p.Against != nil {
		return "Release " + clean(p.Release.String()) + ": " + what + ", compared with " + clean(p.Against.String())
	}
	switch p.Operation {
	case plan.Install:
		what = fmt.Sprintf("install as revision %d", p.ToRevision)
	case plan.Upgrade:
		what = fmt.Sprintf("upgrade %d → %d", p.FromRevision, p.ToRevision)
		if p.FromRevision == p.ToRevision {
			what = fmt.Sprintf("upgrade of revision %d", p.FromRevision)
		}
	case plan.Rollback:
		what = fmt.Sprintf("rollback %d → %d, to what revision %d was", p.FromRevision, p.ToRevision, p.RollbackTo)
	case plan.Uninstall:
		what = fmt.Sprintf("uninstall revision %d", p.FromRevision)
	case plan.Test:
		what = fmt.Sprintf("test revision %d", p.FromRevision)
	}
	return "Release " + clean(p.Release.String()) + ": " + what
}

func facts(p *plan.Plan) []string {
	var out []string
	to := p.ChartTo
	if p.Operation == plan.Uninstall {
		to = plan.ChartRef{}
	}
	if chart := chartFact(p.ChartFrom, to); chart != "" {
		out = append(out, "chart "+chart)
	}
	var cluster []string
	if p.Against != nil && p.Against.Offline {
		cluster = append(cluster, "offline")
	}
	if server := p.Cluster.Server; server != "" {
		_, host, found := strings.Cut(server, "://")
		if !found {
			host = server
		}
		cluster = append(cluster, "cluster "+clean(strings.TrimSuffix(host, "/")))
	}
	if p.KubeVersion != "" {
		cluster = append(cluster, "Kubernetes "+clean(strings.TrimPrefix(p.KubeVersion, "v")))
	}
	if len(cluster) > 0 {
		out = append(out, strings.Join(cluster, ", "))
	}
	return out
}

// chartFact is "web 1.4.2 → 1.5.0".
func chartFact(from, to plan.ChartRef) string {
	if from.Name == "" || to.Name == "" {
		return clean(strings.TrimSpace(cmp.Or(to.Name, from.Name) + " " + cmp.Or(to.Version, from.Version)))
	}
	text := clean(from.Name + " " + from.Version)
	switch {
	case from.Name != to.Name:
		return text + " → " + clean(to.Name+" "+to.Version)
	case from.Version != to.Version:
		return text + " → " + clean(to.Version)
	case from.Digest != to.Digest && from.Digest != "" && to.Digest != "":
		return text + " (same version, other files)"
	}
	return text
}

func headerNotes(p *plan.Plan, v view) []note {
	var notes []note
	add := func(label string, items ...string) {
		if len(items) > 0 {
			notes = append(notes, note{label, items})
		}
	}
	user, defaults := valueChanges(p, v)
	if p.Against != nil {
		add("against", againstText(*p.Against))
	}
	add("values", user...)
	add("defaults", defaults...)
	if n := p.Summary.Drifted; n > 0 {
		verb := "were"
		if n == 1 {
			verb = "was"
		}
		add("drift", count(n, "object", "objects")+" "+verb+" changed outside of this release (≠)")
	}
	if p.Found != "" {
		add("found", clean(p.Found))
	}
	add("with", optionNames(p.Options)...)
	add("estimate", estimates(p)...)
	if len(v.only) > 0 {
		add("only", clean(strings.Join(v.only, ", "))+onlyText(p, v))
	}
	return notes
}

func onlyText(p *plan.Plan, v view) string {
	found := false
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		found = found || s.Op != plan.OpRecord && selects(v.only, s.Object)
	})
	if !found {
		return " is nothing in this release"
	}
	return " shown here; the plan is for the whole release"
}

// valueChanges are the changes of the user's values and of the chart's defaults.
func valueChanges(p *plan.Plan, v view) (user, defaults []string) {
	limit := 100
	if v.full {
		limit = 0
	}
	for _, c := range p.Values {
		if isText(c) {
			c.From, c.To = firstLine(c.From), firstLine(c.To)
		}
		text := clean(c.Path) + " " + pair(c, limit)
		if c.Cause == plan.CauseChart {
			defaults = append(defaults, text)
		} else {
			user = append(user, text)
		}
	}
	return user, defaults
}

func firstLine(v any) any {
	s, ok := v.(string)
	if !ok || !severalLines(s) {
		return v
	}
	line, _, _ := strings.Cut(s, "\n")
	return line + " …"
}

// optionNames are the options that a reviewer would ask about.
func optionNames(o plan.Options) []string {
	var out []string
	for _, option := range []struct {
		set  bool
		name string
	}{
		{o.OverallTimeout > 0, "at most " + duration(o.OverallTimeout) + " in all"},
		{o.Force, "force"},
		{o.ForceConflicts, "force conflicts"},
		{o.TakeOwnership, "take ownership"},
		{o.TakeOver, "take over a pending operation"},
		{o.Replace, "reuse the name of an uninstalled release"},
		{o.NoHooks, "no hooks"},
		{o.SkipCRDs, "no CRDs"},
		{o.CreateNamespace, "create the namespace"},
		{o.Atomic, "roll back on failure"},
		{o.CleanupOnFail, "clean up on failure"},
		{o.ServerSide, "server-side apply"},
	} {
		if option.set {
			out = append(out, option.name)
		}
	}
	if c := o.Cascade; c != "" && c != "background" {
		out = append(out, "cascade "+clean(c))
	}
	return out
}

// estimates say why steps could not be checked by the server, most frequent first.
func estimates(p *plan.Plan) []string {
	counts := map[string]int{}
	var reasons []string
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Estimate == "" || s.Op == plan.OpNone || toldAbove(p, s) {
			return
		}
		if counts[s.Estimate]++; counts[s.Estimate] == 1 {
			reasons = append(reasons, s.Estimate)
		}
	})
	slices.SortStableFunc(reasons, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	var out []string
	for _, reason := range reasons {
		if counts[reason] >= minFold {
			out = append(out, fmt.Sprintf("%d objects: %s", counts[reason], clean(reason)))
		}
	}
	return out
}

// againstText says what a comparison can't know.
func againstText(a plan.Against) string {
	return clean(a.String()) + ", not live objects: drift is not known, outcomes are estimated, and this plan can't be applied"
}

// toldAbove says whether the header's line on the comparison is reason enough
// for the step's estimate.
func toldAbove(p *plan.Plan, s *plan.Step) bool {
	return p.Against != nil && s.Estimate == plan.NotAsked
}

// duration prints 5m0s as 5m.
func duration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
