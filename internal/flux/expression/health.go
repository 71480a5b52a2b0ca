package expression

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/condition"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/readiness"
)

// Health returns a function that judges objects of the kinds that the checks name, whatever
// their versions, in fluxcd/pkg's order: inProgress, failed, current; if none holds, the object
// is in progress. So it is if an expression fails, as over a status that is not there yet.
// judged is false for objects of other kinds. Errors are those of Check, and an invalid
// apiVersion.
func Health(checks []flux.HealthCheck) (judge func(*unstructured.Unstructured) (result readiness.Result, judged bool), err error) {
	if err := Check(checks); err != nil {
		return nil, err
	}
	kinds := map[schema.GroupKind][]rule{}
	for _, c := range checks {
		gv, err := schema.ParseGroupVersion(c.APIVersion)
		if err != nil {
			return nil, fmt.Errorf("health check of %s: %w", c.Kind, err)
		}
		rules, err := rulesOf(c)
		if err != nil {
			return nil, err
		}
		kinds[gv.WithKind(c.Kind).GroupKind()] = rules
	}
	return func(o *unstructured.Unstructured) (readiness.Result, bool) {
		rules, known := kinds[o.GroupVersionKind().GroupKind()]
		if !known {
			return readiness.Result{}, false
		}
		return judged(rules, o), true
	}, nil
}

// rule is an expression and the state of an object for which it is true.
type rule struct {
	text  string
	is    readiness.State
	check cel.Program
}

func rulesOf(c flux.HealthCheck) (out []rule, err error) {
	env, err := environment()
	if err != nil {
		return nil, err
	}
	for _, r := range []rule{{text: c.InProgress, is: readiness.Progressing}, {text: c.Failed, is: readiness.Failed}, {text: c.Current, is: readiness.Ready}} {
		if r.text == "" {
			continue
		}
		parsed, issues := env.Parse(r.text)
		if issues.Err() != nil {
			return nil, issues.Err()
		}
		if r.check, err = env.Program(parsed, cel.CostLimit(condition.CostLimit)); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// judged returns what the first rule that holds says about an object. One whose status is of
// an older generation is in progress.
func judged(rules []rule, o *unstructured.Unstructured) readiness.Result {
	observed, ok, err := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	if err == nil && ok && observed != o.GetGeneration() {
		return readiness.Result{State: readiness.Progressing, Why: "its status is for an older generation"}
	}
	for _, r := range rules {
		out, _, err := r.check.Eval(o.Object)
		if err != nil {
			return readiness.Result{State: readiness.Progressing, Why: fmt.Sprintf("the health check %q can't be evaluated yet", r.text)}
		}
		if holds, ok := out.Value().(bool); ok && holds {
			return readiness.Result{State: r.is, Why: fmt.Sprintf("the health check %q holds", r.text)}
		}
	}
	return readiness.Result{State: readiness.Progressing, Why: "no health check holds"}
}
