package apply_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/apply"
)

// troubled is a world whose failing Jobs say why.
type troubled struct{ *failingJobs }

func (troubled) Troubles(context.Context, apply.Ref) []string {
	return []string{"Pod/a: BackOff", apply.LogMark + "password is oops"}
}

type ear func(apply.Event)

func (e ear) Observe(event apply.Event) { e(event) }

// What is behind a failure is told with it; log lines are shown and not recorded.
func TestReasonsAreToldAndLogsNotRecorded(t *testing.T) {
	w := installed(t)
	p := upgrade(t, w)
	env := w.env()
	env.Cluster = troubled{&failingJobs{w}}
	var told [][]string
	env.Observer = ear(func(e apply.Event) {
		if e.Type == apply.StepFailed && e.Reasons != nil {
			told = append(told, e.Reasons)
		}
	})
	_, err := apply.Run(t.Context(), p, env)
	if err == nil || !strings.Contains(err.Error(), "| password is oops") {
		t.Errorf("the error is %v", err)
	}
	if diff := cmp.Diff([][]string{{"Pod/a: BackOff", "| password is oops"}}, told); diff != "" {
		t.Errorf("told with it (-want +got):\n%s", diff)
	}
	description := w.records[2].Info.Description
	if !strings.Contains(description, "Pod/a: BackOff") || strings.Contains(description, "oops") {
		t.Errorf("the record says %q", description)
	}
}
