// Package condition compiles and evaluates CEL conditions, from policies and HelmReleases, with a
// limit on the cost of an evaluation. Callers know what the conditions are about and what follows
// from them.
package condition

import (
	"errors"
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/interpreter"
)

// CostLimit limits the cost of an evaluation, in CEL's cost units, as Kubernetes does for an
// expression of an admission policy.
const CostLimit = 10_000_000

// Condition is a compiled expression that is either true or false.
type Condition struct{ program cel.Program }

// InvalidError says why an expression is invalid, whatever it is evaluated over.
type InvalidError struct {
	// Text is the expression; While is what failed: "parse" or "compile".
	Text, While string
	// Issues are CEL's errors, with their positions.
	Issues *cel.Issues
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("failed to %s the CEL expression '%s': %s", e.While, e.Text, e.Issues.Err())
}

// First returns the first issue in one line: "1:5: undeclared reference to
// 'x'", with line and column counted from 1.
func (e *InvalidError) First() string {
	for _, issue := range e.Issues.Errors() {
		return fmt.Sprintf("%d:%d: %s", issue.Location.Line(), issue.Location.Column()+1, issue.Message)
	}
	return e.Issues.Err().Error()
}

// Environment returns a CEL environment with the standard functions, optional values and the given
// variables, which can be of any type. Callers create it only if there is an expression, since that
// takes a while.
func Environment(variables []string, more ...cel.EnvOption) (*cel.Env, error) {
	options := []cel.EnvOption{
		cel.HomogeneousAggregateLiterals(), cel.EagerlyValidateDeclarations(true), cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true), cel.OptionalTypes(),
	}
	for _, name := range variables {
		options = append(options, cel.Variable(name, cel.DynType))
	}
	return cel.NewEnv(append(options, more...)...)
}

var (
	// ErrNoTruthValue says that an expression yields something other than true or false.
	ErrNoTruthValue = errors.New("it is neither true nor false")
	// ErrTooCostly says that an evaluation was stopped at CostLimit.
	ErrTooCostly = errors.New("it costs too much")
)

// Compile compiles an expression. It returns an *InvalidError, or ErrNoTruthValue if that is
// already known without evaluating it.
func Compile(env *cel.Env, text string) (Condition, error) {
	parsed, issues := env.Parse(text)
	if issues.Err() != nil {
		return Condition{}, &InvalidError{Text: text, While: "parse", Issues: issues}
	}
	checked, issues := env.Check(parsed)
	if issues.Err() != nil {
		return Condition{}, &InvalidError{Text: text, While: "compile", Issues: issues}
	}
	if is := checked.OutputType(); !is.IsExactType(cel.BoolType) && !is.IsExactType(cel.DynType) {
		return Condition{}, fmt.Errorf("%w: its type is %s", ErrNoTruthValue, is)
	}
	program, err := env.Program(checked, cel.CostLimit(CostLimit))
	return Condition{program: program}, err
}

// Holds evaluates the condition over the values of its variables, and returns the cost in CEL's
// cost units. It returns ErrNoTruthValue, ErrTooCostly or CEL's own errors, for a missing key for
// example. The latter may repeat what the variables hold.
func (c Condition) Holds(over map[string]any) (holds bool, cost uint64, err error) {
	out, details, err := c.program.Eval(over)
	if details != nil && details.ActualCost() != nil {
		cost = *details.ActualCost()
	}
	if stopped := (interpreter.EvalCancelledError{}); errors.As(err, &stopped) && stopped.Cause == interpreter.CostLimitExceeded {
		return false, cost, ErrTooCostly
	}
	if err != nil {
		return false, cost, err
	}
	holds, ok := out.Value().(bool)
	if !ok {
		return false, cost, ErrNoTruthValue
	}
	return holds, cost, nil
}
