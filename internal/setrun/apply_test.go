package setrun

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/plan"
)

// After a failure, or when the run is stopped, no release begins that still waits for its turn.
func TestWhatWaitsForItsTurnIsNotStarted(t *testing.T) {
	const failed, stopped = "another release failed earlier", "the run was stopped"
	for name, test := range map[string]struct {
		keepGoing, stops bool
		want             []string
	}{
		"a failure":           {want: []string{"", failed, failed}},
		"one that is allowed": {keepGoing: true, want: []string{"", "", ""}},
		"a signal":            {keepGoing: true, stops: true, want: []string{"", stopped, stopped}},
	} {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		saved := &Saved{Plans: map[releaseset.Key]*plan.Plan{}}
		for _, name := range []string{"a", "b", "c"} {
			key := releaseset.Key{Namespace: "shop", Name: name}
			saved.Index.Plans = append(saved.Index.Plans, IndexPlan{Key: key})
			saved.Plans[key] = &plan.Plan{}
		}
		a := &Applier{Saved: saved, Parallel: 1, KeepGoing: test.keepGoing, Runner: func(releaseset.Key, *plan.Plan) (*engine.Engine, func(apply.Outcome, error), error) {
			if test.stops {
				stop()
			}
			return nil, nil, errors.New("it fails")
		}}
		done, err := a.Run(ctx)
		var got []string
		for _, d := range done {
			got = append(got, d.Skipped)
		}
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}
