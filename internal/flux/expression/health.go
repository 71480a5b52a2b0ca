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

// kindOf returns the kind that a check is for, whatever its version. Without one it is for all kinds of its
// group that have no check of their own (fluxcd/pkg runtime 0.110.1, cel/status_reader.go, NewStatusReader).
func kindOf(c flux.HealthCheck) schema.GroupKind {
	return schema.FromAPIVersionAndKind(c.APIVersion, c.Kind).GroupKind()
}

// Health returns a function that judges objects of the kinds that the checks are for, in
// fluxcd/pkg's order: inProgress, failed, current; if none holds, the object is in progress. So it
// is if an expression fails, as over a status that is not there yet. judged is false for objects of
// other kinds. Errors are those of Check.
func Health(checks []flux.HealthCheck) (judge func(*unstructured.Unstructured) (result readiness.Result, judged bool), err error) {
	if err := Check(checks); err != nil {
		return nil, err
	}
	kinds := map[schema.GroupKind][]rule{}
	for _, c := range checks {
		rules, err := rulesOf(c)
		if err != nil {
			return nil, err
		}
		kinds[kindOf(c)] = rules
	}
	return func(o *unstructured.Unstructured) (readiness.Result, bool) {
		kind := o.GroupVersionKind().GroupKind()
		rules, known := kinds[kind]
		if !known {
			rules, known = kinds[schema.GroupKind{Group: kind.Group}]
		}
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
