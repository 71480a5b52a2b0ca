package report

import (
	"fmt"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/plan"
)

// summaryLine returns the line with the counts, "Plan: …", or one that says that nothing changes.
func summaryLine(p *plan.Document) string {
	c := p.Summary
	if p.Impossible() {
		return "No plan can be made"
	}
	if c.ObjectChanges() == 0 && c.Blocking == 0 {
		if text := noChangesLine(p, c); text != "" {
			return text
		}
	}
	var parts []string
	for _, part := range []struct {
		n    int
		text string
	}{
		{c.Recreate, "to recreate"},
		{c.Delete, "to delete"},
		{c.Replace, "to replace"},
		{c.Patch - c.LabelsOnly, "to change"},
		{c.Adopt, "to adopt"},
		{c.Create, "to create"},
		{c.Keep, "to keep unmanaged"},
		{c.LabelsOnly, "with only label changes"},
		{c.Unchanged, "unchanged"},
	} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.text))
		}
	}
	if p.Operation == plan.Test {
		return "Plan: run " + Count(c.Hooks, "test", "tests")
	}
	text := "Plan: " + strings.Join(parts, ", ")
	if len(parts) == 0 {
		text += "no objects"
	}
	if c.Hooks > 0 {
		text += "; " + strings.TrimSuffix(hookCounts(c.Hooks, p.Impact.Hooks), " would run")
	}
	if c.Waits > 0 && p.Options.Wait {
		text += "; then wait"
		if p.Options.Timeout > 0 {
			text += " up to " + duration(p.Options.Timeout)
		}
	}
	return text
}

// hookCounts returns text such as "1 hook changes, 11 hooks as before".
func hookCounts(n int, h plan.HookChanges) string {
	var parts []string
	add := func(n int, one, many string) {
		if n > 0 {
			parts = append(parts, Count(n, one, many))
		}
	}
	add(h.Changed, "hook changes", "hooks change")
	add(h.New, "new hook", "new hooks")
	add(h.Same, "hook as before", "hooks as before")
	add(n-h.Changed-h.New-h.Same, "hook would run", "hooks would run") // nothing to compare with
	return strings.Join(parts, ", ")
}

// noChangesLine returns the line for a plan that changes no object.
func noChangesLine(p *plan.Document, c plan.Summary) string {
	hooks := ""
	if c.Hooks > 0 {
		hooks = "; " + hookCounts(c.Hooks, p.Impact.Hooks)
	}
	if p.Against != nil {
		return comparedVerdict(p, c) + hooks + "."
	}
	switch p.Operation {
	case plan.Test:
		if c.Hooks == 0 {
			return fmt.Sprintf("Release %s has no tests.", escape.Line(p.Release.String()))
		}
		return ""
	case plan.Uninstall:
		if c.Unchanged > 0 {
			return ""
		}
		records := "only its records would be removed"
		if len(p.Stages) == 0 {
			records = "and its records stay"
		}
		return "No object changes; nothing of the release is left in the cluster, " + records + hooks + "."
	case plan.Install:
		if c.Unchanged > 0 {
			break
		}
		return fmt.Sprintf("No objects; revision %d would only be recorded%s.", p.ToRevision, hooks)
	case plan.CorrectDrift:
		return fmt.Sprintf("No object of release %s has drifted from revision %d.", escape.Line(p.Release.String()), p.FromRevision)
	case plan.Upgrade, plan.Rollback, plan.CorrectRecords:
	}
	if p.ToRevision != p.FromRevision && p.Effect() == plan.EffectRecord {
		return fmt.Sprintf("No object changes; revision %d would only be recorded%s.", p.ToRevision, hooks)
	}
	return fmt.Sprintf("No changes. Release %s is up to date at revision %d (%s)%s.", escape.Line(p.Release.String()), p.FromRevision,
		Count(c.Unchanged, "object", "objects"), hooks)
}

// comparedVerdict returns the line for a comparison without differences.
func comparedVerdict(p *plan.Document, c plan.Summary) string {
	text := "No object changes against " + comparedWith(p)
	if c.Unchanged > 0 {
		text += " (" + Count(c.Unchanged, "object", "objects") + ")"
	}
	return text
}

// Brief summarizes a plan in a few words, such as "create 1, change 2".
func Brief(s plan.Summary) string {
	var parts []string
	for _, part := range []struct {
		n    int
		verb string
	}{
		{s.Create, "create"},
		{s.Patch, "change"},
		{s.Adopt, "adopt"},
		{s.Replace, "replace"},
		{s.Recreate, "recreate"},
		{s.Delete, "delete"},
		{s.Keep, "keep"},
	} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", part.verb, part.n))
		}
	}
	switch s.Hooks {
	case 0:
	case 1:
		parts = append(parts, "run 1 hook")
	default:
		parts = append(parts, fmt.Sprintf("run %d hooks", s.Hooks))
	}
	if len(parts) == 0 {
		parts = []string{"no object changes"}
	}
	return strings.Join(parts, ", ")
}
