// Package expression evaluates the CEL that HelmReleases hold: readyExpr of dependencies
// and healthCheckExprs, in the environment of fluxcd/pkg runtime/cel. It reads no
// objects and decides nothing.
package expression

import (
	"errors"
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
)

// costLimit bounds an evaluation, as Kubernetes does for an expression of a policy.
const costLimit = 10_000_000

// ErrInvalid says that an expression can't be used, whatever it is evaluated with: it
// does not compile, or gives no truth value.
var ErrInvalid = errors.New("invalid expression")

type invalidError struct{ error }

func (invalidError) Is(target error) bool { return target == ErrInvalid }

// Ready evaluates a readyExpr over two objects. Errors: those for which ErrInvalid holds,
// and of the evaluation, such as a key that is not there.
func Ready(text string, self, dep map[string]any) (bool, error) {
	env, err := environment(cel.Variable("self", cel.DynType), cel.Variable("dep", cel.DynType))
	if err != nil {
		return false, err
	}
	parsed, issues := env.Parse(text)
	if issues.Err() != nil {
		return false, invalidError{fmt.Errorf("failed to parse the CEL expression '%s': %w", text, issues.Err())}
	}
	checked, issues := env.Check(parsed)
	if issues.Err() != nil {
		return false, invalidError{fmt.Errorf("failed to compile the CEL expression '%s': %w", text, issues.Err())}
	}
	program, err := env.Program(checked, cel.CostLimit(costLimit))
	if err != nil {
		return false, invalidError{err}
	}
	out, _, err := program.Eval(map[string]any{"self": self, "dep": dep})
	if err != nil {
		return false, fmt.Errorf("failed to evaluate the CEL expression '%s': %w", text, err)
	}
	ready, ok := out.Value().(bool)
	if !ok {
		return false, invalidError{fmt.Errorf("the CEL expression '%s' gives no truth value", text)}
	}
	return ready, nil
}

// Judge fills in what the readyExpr of a dependency gives over the HelmRelease that has it.
func Judge(dep *decision.Dependency, text string, self map[string]any) {
	ready, err := Ready(text, self, dep.HelmRelease.Object)
	switch dep.Ready = ready; {
	case errors.Is(err, ErrInvalid):
		dep.Invalid = err
	case err != nil:
		dep.Failed = err
	}
}

// Check says why a health check does not compile.
func Check(checks []flux.HealthCheck) error {
	env, err := environment()
	if err != nil {
		return err
	}
	for i, c := range checks {
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

func environment(variables ...cel.EnvOption) (*cel.Env, error) {
	return cel.NewEnv(append(variables,
		cel.HomogeneousAggregateLiterals(), cel.EagerlyValidateDeclarations(true), cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true), cel.OptionalTypes(), ext.Strings(), ext.Sets(), ext.Encoders(),
	)...)
}
