package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// title returns text such as "Release shop/web: upgrade 7 → 8".
func title(p *plan.Document) string {
	what := escape.Line(string(p.Operation))
	if p.Impossible() {
		what = "can't be planned"
	}
	if p.Against != nil {
		return "Release " + escape.Line(p.Release.String()) + ": " + what + ", compared with " + comparedWith(p)
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
		what = fmt.Sprintf("rollback %d → %d, restoring revision %d", p.FromRevision, p.ToRevision, p.RollbackTo)
	case plan.Uninstall:
		what = fmt.Sprintf("uninstall revision %d", p.FromRevision)
	case plan.Test:
		what = fmt.Sprintf("test revision %d", p.FromRevision)
	case plan.CorrectDrift:
		what = fmt.Sprintf("correct drift from revision %d", p.FromRevision)
	case plan.CorrectRecords:
		what = fmt.Sprintf("correct the records up to revision %d", p.FromRevision)
	}
	return "Release " + escape.Line(p.Release.String()) + ": " + what
}

func facts(p *plan.Document) []string {
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
	if p.Cluster.Server != "" {
		cluster = append(cluster, escape.Line(p.Cluster.String()))
	}
	if p.KubeVersion != "" {
		cluster = append(cluster, "Kubernetes "+escape.Line(strings.TrimPrefix(p.KubeVersion, "v")))
	}
	if len(cluster) > 0 {
		out = append(out, strings.Join(cluster, ", "))
	}
	return out
}

// chartFact returns text such as "web 1.4.2 → 1.5.0".
func chartFact(from, to plan.ChartRef) string {
	if from.Name == "" || to.Name == "" {
		return escape.Line(strings.TrimSpace(cmp.Or(to.Name, from.Name) + " " + cmp.Or(to.Version, from.Version)))
	}
	text := escape.Line(from.Name + " " + from.Version)
	switch {
	case from.Name != to.Name:
		return text + " → " + escape.Line(to.Name+" "+to.Version)
	case from.Version != to.Version:
		return text + " → " + escape.Line(to.Version) + appChange(from, to)
	case from.Digest != to.Digest && from.Digest != "" && to.Digest != "":
		return text + " (same version, different files)"
	}
	return text
}

// appChange returns text such as " (app 7.2.4 → 8.2.1)"; "" if the application's version is
// unknown, unchanged, or equal to the chart's.
func appChange(from, to plan.ChartRef) string {
	was, is := from.AppVersion, to.AppVersion
	if was == "" || is == "" || was == is || was == from.Version && is == to.Version {
		return ""
	}
	return escape.Line(" (app " + was + " → " + is + ")")
}

func headerNotes(p *plan.Document, v view) []note {
	var notes []note
	add := func(label string, items ...string) {
		if len(items) > 0 {
			notes = append(notes, note{label: label, items: items})
		}
	}
	user, defaults := valueChanges(p, v)
	if p.ChartSource != nil {
		add("source", sourceText(*p.ChartSource, v.full))
	}
	if l := p.ChartLock; l != nil && (v.full || l.OutOfSync != "" || l.Pinned > 0) { // a lock in sync without digests says nothing about what is rendered
		add("lock", escape.Line(p.ChartLock.String()))
	}
	add("values", user...)
	add("defaults", defaults...)
	if n := p.Summary.Drifted; n > 0 {
		verb := "were"
		if n == 1 {
			verb = "was"
		}
		add("drift", Count(n, "object", "objects")+" "+verb+" changed outside of this release (≠)")
	}
	if p.Found != "" {
		add("found", escape.Line(p.Found))
	}
	add("with", append(optionNames(p.Options), applyMethod(p)...)...)
	if v.full {
		add("options", furtherOptions(p.Options)...)
		add("digest", digests(p, whole)...)
	}
	add("estimate", estimates(p)...)
	if len(v.only) > 0 {
		add("only", escape.Line(strings.Join(v.only, ", "))+onlyText(p, v))
	}
	return notes
}

// sourceText returns text such as "oci://host/charts/web:1.4.2 (sha256:0123456789ab…)".
func sourceText(s plan.ChartSource, full bool) string {
	text, digest := s.URL, s.Digest
	if s.Repository != "" {
		text = s.Reference + ": " + text
	}
	if !full {
		digest = short(digest)
	}
	text += " (" + digest + ")"
	if s.Signature != nil {
		text += ", signed by " + s.Signature.String()
	}
	return escape.Line(text)
}

func onlyText(p *plan.Document, v view) string {
	found := false
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		found = found || s.Op != plan.OpRecord && manifest.Selects(v.only, s.Object)
	})
	if !found {
		return " matches nothing in this release"
	}
	return " shown here; the plan is for the whole release"
}

// optionNames returns the options that a reviewer wants to see.
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
	} {
		if option.set {
			out = append(out, option.name)
		}
	}
	if c := o.Cascade; c != "" && c != "background" {
		out = append(out, "cascade "+escape.Line(c))
	}
	return out
}

// applyMethod says how objects are sent if that is server-side or has changed. A comparison sends
// nothing.
func applyMethod(p *plan.Document) []string {
	was, writes := p.AppliedFrom, p.Operation != plan.Uninstall && p.Operation != plan.Test && p.Against == nil
	if p.Operation == plan.Install {
		was = ""
	}
	switch {
	case !writes:
		return nil
	case p.Options.ServerSide && was == release.ClientSide:
		return []string{"server-side apply (client-side until now)"}
	case p.Options.ServerSide:
		return []string{"server-side apply"}
	case was == release.ServerSide:
		return []string{"client-side apply (server-side until now)"}
	}
	return nil
}

// furtherOptions returns the options that a reviewer rarely wants to see.
func furtherOptions(o plan.Options) []string {
	var out []string
	add := func(set bool, format string, args ...any) {
		if set {
			out = append(out, escape.Line(fmt.Sprintf(format, args...)))
		}
	}
	add(o.Wait, "wait")
	add(o.WaitForJobs, "wait for jobs")
	add(o.Timeout > 0, "timeout %s", duration(o.Timeout))
	add(o.HistoryMax > 0, "keep %d revisions", o.HistoryMax)
	add(o.KeepHistory, "keep the history")
	add(o.UpdateCRDs, "update CRDs")
	add(o.HookLogs, "logs of hooks")
	add(len(o.OnlyTests) > 0, "only the tests %s", strings.Join(o.OnlyTests, ", "))
	add(len(o.SkipTests) > 0, "skip the tests %s", strings.Join(o.SkipTests, ", "))
	add(o.FieldManager != "", "field manager %s", o.FieldManager)
	add(o.Description != "", "description %q", o.Description)
	for _, label := range slices.Sorted(maps.Keys(o.Labels)) {
		add(true, "label %s=%s", label, o.Labels[label])
	}
	for _, rule := range o.Policy.Deny {
		add(true, "deny %s", ruleText(rule))
	}
	for _, rule := range o.Policy.Allow {
		add(true, "allow %s", ruleText(rule))
	}
	add(len(o.Sensitive) > 0, "sensitive %s", strings.Join(o.Sensitive, ", "))
	return out
}

// ruleText returns text such as "data of StatefulSet.apps named db-* where step.drift (policy.yaml)".
func ruleText(r plan.Rule) string {
	text := string(r.Risk)
	if text == "" {
		text = "steps"
	}
	if len(r.Kinds) > 0 {
		text += " of " + strings.Join(r.Kinds, ", ")
	}
	if len(r.Names) > 0 {
		text += " named " + strings.Join(r.Names, ", ")
	}
	if r.Expression != "" {
		text += " where " + strings.Join(strings.Fields(r.Expression), " ")
	}
	return text + " (" + r.Source + ")"
}

// estimates lists the reasons why outcomes are only estimated, the most frequent first.
func estimates(p *plan.Document) []string {
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
			out = append(out, fmt.Sprintf("%d objects: %s", counts[reason], escape.Line(reason)))
		}
	}
	return out
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
