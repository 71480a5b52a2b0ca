package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// effect is what a plan does, independent of the state of the cluster that it was made from: two
// plans with the same intent have the same effect.
type effect struct {
	Operation Operation      `json:"operation"`
	Release   release.Key    `json:"release"`
	Chart     string         `json:"chart,omitempty"` // the digest of its files
	Values    []effectChange `json:"values,omitempty"`
	Steps     []effectStep   `json:"steps,omitempty"` // by ID
	Hooks     []effectStep   `json:"hooks,omitempty"` // in the order of the run
}

type effectStep struct {
	ID      string                     `json:"id"`
	Op      Op                         `json:"op"`
	When    When                       `json:"when,omitempty"`
	Risks   []Risk                     `json:"risks,omitempty"`
	Changes []effectChange             `json:"changes,omitempty"`
	Body    *unstructured.Unstructured `json:"body,omitempty"`
	Cascade string                     `json:"cascade,omitempty"`
	// Policies are the delete policies of a hook.
	Policies []manifest.Policy `json:"policies,omitempty"`
}

type effectChange struct {
	Path string `json:"path"`
	From any    `json:"from,omitempty"`
	To   any    `json:"to,omitempty"`
}

// EffectList is the plan's effect in a canonical form, as JSON: the operation, the release, the
// digest of the chart's files, changes of values, and for each step that writes an object its ID,
// op, risks and changes, or its body if there is nothing to compare it with; hooks are in the order
// of the run. It does not include revisions, resourceVersions, UIDs, times, causes, waits, the
// order of steps that may run in parallel, or the cluster. It contains whatever secrets the
// document contains: see redact.EffectDigest. It returns an error for values that JSON can't
// represent.
func (p *Document) EffectList() ([]byte, error) {
	e := effect{Operation: p.Operation, Release: p.Release, Chart: p.ChartTo.Digest, Values: effectChanges(p.Values)}
	p.Steps(func(stage StageName, s *Step) {
		switch {
		case s.Op == OpNone, s.Op == OpWait, s.Op == OpRecord:
		case stage == StageInterrupted, s.MakesRoom() && !s.Hook.Foreign: // leftovers of an earlier run may disappear on their own
		case s.Hook != nil:
			e.Hooks = append(e.Hooks, s.effect())
		default:
			e.Steps = append(e.Steps, s.effect())
		}
	})
	slices.SortFunc(e.Steps, func(a, b effectStep) int { return cmp.Compare(a.ID, b.ID) })
	out, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("list the effect of the plan of %s: %w", p.Release, err)
	}
	return out, nil
}

func (s *Step) effect() effectStep {
	out := effectStep{ID: s.ID, Op: s.Op, When: s.When, Risks: s.Risks(), Cascade: s.Cascade}
	switch s.Op {
	case OpRun:
		out.Body, out.Policies = s.Body, s.Hook.DeletePolicies
		if s.InPlace() { // otherwise they are a comparison with earlier runs, which is not part of the effect
			out.Changes = effectChanges(s.Changes)
		}
	case OpCreate, OpReplace, OpRecreate:
		out.Body, out.Changes = s.Body, effectChanges(s.Changes)
	case OpPatch, OpAdopt, OpDelete, OpKeep, OpWait, OpRecord, OpNone:
		out.Changes = effectChanges(s.Changes)
	}
	return out
}

func effectChanges(changes []Change) []effectChange {
	var out []effectChange
	for _, c := range changes {
		out = append(out, effectChange{Path: c.Path, From: c.From, To: c.To})
	}
	slices.SortStableFunc(out, func(a, b effectChange) int { return cmp.Compare(a.Path, b.Path) })
	return out
}
