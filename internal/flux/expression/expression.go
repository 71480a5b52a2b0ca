// Package expression evaluates the CEL expressions in HelmReleases, readyExpr of
// dependencies and healthCheckExprs, in the environment of fluxcd/pkg runtime/cel. It reads
// no objects and decides nothing.
package expression

import (
	"errors"
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/condition"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
)

// ErrInvalid means that an expression can't be used, whatever it is evaluated with: it
// does not compile, or does not yield a boolean.
var ErrInvalid = errors.New("invalid expression")

type invalidError struct{ error }

func (invalidError) Is(target error) bool { return target == ErrInvalid }

// Ready evaluates a readyExpr over two objects. Errors are ErrInvalid, by errors.Is, and
// those of the evaluation, such as a missing key.
func Ready(text string, self, dep map[string]any) (bool, error) {
	env, err := environment("self", "dep")
	if err != nil {
		return false, err
	}
	ready, err := condition.Compile(env, text)
	if errors.Is(err, condition.ErrNoTruthValue) {
		return false, noTruthValue(text)
	}
	if err != nil {
		return false, invalidError{err}
	}
	holds, _, err := ready.Holds(map[string]any{"self": self, "dep": dep})
	if errors.Is(err, condition.ErrNoTruthValue) {
		return false, noTruthValue(text)
	}
	if err != nil {
		return false, fmt.Errorf("failed to evaluate the CEL expression '%s': %w", text, err)
	}
	return holds, nil
}

func noTruthValue(text string) error {
	return invalidError{fmt.Errorf("the CEL expression '%s' does not return a boolean", text)}
}

// EvaluateReady evaluates the readyExpr of a dependency, with the HelmRelease that depends on it as
// self, and fills in the outcome.
func EvaluateReady(dep *decision.Dependency, text string, self map[string]any) {
	ready, err := Ready(text, self, dep.HelmRelease.Object)
	switch dep.Ready = ready; {
	case errors.Is(err, ErrInvalid):
		dep.Invalid = err
	case err != nil:
		dep.Failed = err
	}
}

// Check returns why a health check can't be parsed, or that there are two for a kind; nil if all is well.
func Check(checks []flux.HealthCheck) error {
	env, err := environment()
	if err != nil {
		return err
	}
	seen := map[schema.GroupKind]bool{}
	for i, c := range checks {
		if seen[kindOf(c)] {
			return fmt.Errorf("duplicate custom health check for GroupKind %s at healthchecks[%d]", kindOf(c), i)
		}
		seen[kindOf(c)] = true
		for _, e := range []struct{ name, text string }{{"Current", c.Current}, {"InProgress", c.InProgress}, {"Failed", c.Failed}} {
			if e.text == "" && e.name != "Current" {
				continue
			}
			if _, issues := env.Parse(e.text); issues.Err() != nil {
				return fmt.Errorf("failed to create custom status evaluator for healthchecks[%d]: failed to parse the expression %s: failed to parse the CEL expression '%s': %w", i, e.name, e.text, issues.Err())
			}
		}
	}
	return nil
}

func environment(variables ...string) (*cel.Env, error) {
	return condition.Environment(variables, ext.Strings(), ext.Sets(), ext.Encoders())
}
