package apply_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
)

// troubled is a cluster whose failing Jobs say why.
type troubled struct{ clusterfake.FailingJobs }

func (troubled) Diagnose(context.Context, apply.Ref, time.Time) apply.Diagnosis {
	return apply.Diagnosis{Reasons: []string{"Pod/a: BackOff"}, Log: apply.Log{Of: "Pod/a", Lines: []string{"password is oops"}}}
}

type ear func(apply.Event)

func (e ear) Observe(event apply.Event) { e(event) }

// What is behind a failure is told with it; log lines are shown and not recorded.
func TestReasonsAreToldAndLogsNotRecorded(t *testing.T) {
	w := installed(t)
	p := upgrade(t, w)
	env := w.Env()
	env.Cluster = troubled{clusterfake.FailingJobs{Cluster: w}}
	var told [][]string
	env.Observer = ear(func(e apply.Event) {
		if _, behind := e.Text(); e.Type == apply.StepFailed && e.Reasons != nil {
			told = append(told, behind)
		}
	})
	_, err := apply.Run(t.Context(), p, env)
	if err == nil || !strings.Contains(err.Error(), "| password is oops") {
		t.Errorf("the error is %v", err)
	}
	if diff := cmp.Diff([][]string{{"Pod/a: BackOff", "| log of Pod/a:", "| password is oops"}}, told); diff != "" {
		t.Errorf("told with it (-want +got):\n%s", diff)
	}
	description := w.Records[2].Info.Description
	if !strings.Contains(description, "Pod/a: BackOff") || strings.Contains(description, "oops") {
		t.Errorf("the record says %q", description)
	}
}

// slow is a cluster in which Jobs do not end before it has been told why.
type slow struct {
	*clusterfake.Cluster
	told chan struct{}
}

func (slow) Diagnose(context.Context, apply.Ref, time.Time) apply.Diagnosis {
	return apply.Diagnosis{Reasons: []string{"no node has room"}}
}

func (s slow) Watch(ctx context.Context, kind schema.GroupVersionKind, namespace string, names []string, see func(string, *unstructured.Unstructured) bool) error {
	if kind.Kind == "Job" {
		see(names[0], nil)
		select {
		case <-s.told:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return s.Cluster.Watch(ctx, kind, namespace, names, see)
}

// A wait that takes long says why while it goes on, not when it gives up.
func TestALongWaitIsExplained(t *testing.T) {
	w := installed(t)
	p := upgrade(t, w)
	p.Options.Timeout = 10 * time.Second
	env := w.Env()
	s := slow{w, make(chan struct{})}
	env.Cluster = s
	var slept time.Duration
	env.Sleep = func(ctx context.Context, d time.Duration) error { slept = max(slept, d); return ctx.Err() }
	env.Observer = ear(func(e apply.Event) {
		if e.Type == apply.StepProgress && e.Reasons != nil && e.Object.Kind == "Job" {
			if diff := cmp.Diff([]string{"no node has room"}, e.Reasons); diff != "" {
				t.Error(diff)
			}
			close(s.told)
		}
	})
	if _, err := apply.Run(t.Context(), p, env); err != nil {
		t.Error(err)
	}
	if slept != 30*time.Second {
		t.Errorf("it was explained after %s", slept)
	}
}
