// Package condition compiles and evaluates conditions in CEL, those of policies and of
// HelmReleases, within a limit on what an evaluation may cost. What they are about, and
// what follows from them, callers know.
package condition

import (
	"errors"
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/interpreter"
)

// CostLimit bounds an evaluation, in CEL's units, as Kubernetes does for an expression of a policy.
const CostLimit = 10_000_000

// Condition is an expression that is true or false of something.
type Condition struct{ program cel.Program }

// InvalidError says why an expression is none, whatever it is evaluated with.
type InvalidError struct {
	// Text is the expression; While is what failed: "parse", "compile".
	Text, While string
	// Issues are what CEL says, with places.
	Issues *cel.Issues
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("failed to %s the CEL expression '%s': %s", e.While, e.Text, e.Issues.Err())
}

// First is the first issue in one line: "1:5: undeclared reference to 'x'",
// with line and column from 1.
func (e *InvalidError) First() string {
	for _, issue := range e.Issues.Errors() {
		return fmt.Sprintf("%d:%d: %s", issue.Location.Line(), issue.Location.Column()+1, issue.Message)
	}
	return e.Issues.Err().Error()
}

// Environment has CEL's standard functions and optional values, over variables of any type.
// It is made where there is an expression, since making it takes a while.
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
	// ErrNoTruthValue says that an expression gives something else than true or false.
	ErrNoTruthValue = errors.New("it is neither true nor false")
	// ErrTooCostly says that an evaluation was stopped at CostLimit.
	ErrTooCostly = errors.New("it costs too much")
)

// Compile reads an expression. Errors: InvalidError, and ErrNoTruthValue where that is
// known before it is evaluated.
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
		return Condition{}, fmt.Errorf("%w: it is of the type %s", ErrNoTruthValue, is)
	}
	program, err := env.Program(checked, cel.CostLimit(CostLimit))
	return Condition{program: program}, err
}

// Holds evaluates the condition over the values of its variables, and says what that has
// cost, in CEL's units. Errors: ErrNoTruthValue, ErrTooCostly, and CEL's own, such as a key
// that is not there. Those may repeat what the variables hold.
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
