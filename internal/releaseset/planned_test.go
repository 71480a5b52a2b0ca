package releaseset_test

import (
	"slices"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/plan"
)

// What can't be planned comes first, then what is blocked, and in each of them what does the most harm.
func TestTheMostDangerousComesFirst(t *testing.T) {
	made := func(name string, s plan.Summary) releaseset.Planned {
		return releaseset.Planned{Release: release.Key{Name: name}, Plan: &plan.Document{Summary: s}}
	}
	d := releaseset.Document{Releases: []releaseset.Planned{
		{Release: release.Key{Name: "left"}, Left: true},
		made("same", plan.Summary{}),
		made("scaled", plan.Summary{Risks: plan.RiskCounts{ScaleDown: 1}}),
		made("lost", plan.Summary{Risks: plan.RiskCounts{Data: 1}}),
		made("blocked", plan.Summary{Blocking: 1}),
		made("blocked, scaled", plan.Summary{Blocking: 1, Risks: plan.RiskCounts{ScaleDown: 1}}),
		made("blocked, lost", plan.Summary{Blocking: 1, Risks: plan.RiskCounts{Data: 1}}),
		{Release: release.Key{Name: "broken"}, Error: "no"},
	}}
	d.Finish()
	var got []string
	for _, r := range d.Releases {
		got = append(got, r.Release.Name)
	}
	if want := []string{"broken", "blocked, lost", "blocked, scaled", "blocked", "lost", "scaled", "same", "left"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
