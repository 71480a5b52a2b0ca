package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-release/kubectl-release/internal/condition"
	"github.com/kubectl-release/kubectl-release/internal/serverfields"
)

// maxExpressionCost limits the cost of all expressions evaluated over one plan, in CEL's cost
// units.
const maxExpressionCost = 5 * condition.CostLimit

// expressionEnvironment is built on first use.
var expressionEnvironment = sync.OnceValues(func() (*cel.Env, error) {
	return condition.Environment([]string{"step", "plan"})
})

func compileExpression(text string) (condition.Condition, error) {
	env, err := expressionEnvironment()
	if err != nil {
		return condition.Condition{}, err
	}
	compiled, err := condition.Compile(env, text)
	if invalid := (*condition.InvalidError)(nil); errors.As(err, &invalid) {
		return condition.Condition{}, errors.New(invalid.First())
	}
	return compiled, err
}

// expressions evaluates the expressions of a policy's rules over the steps of one plan.
type expressions struct {
	plan     map[string]any
	compiled map[string]compiledExpression
	// step caches what expressions see of the step that the field of points to.
	step map[string]any
	of   *Step
	cost uint64
}

type compiledExpression struct {
	condition.Condition
	err error
}

func expressionsOver(made *Plan) *expressions {
	chart := func(c ChartRef) map[string]any {
		return map[string]any{"name": c.Name, "version": c.Version, "appVersion": c.AppVersion}
	}
	return &expressions{compiled: map[string]compiledExpression{}, plan: map[string]any{
		"operation": string(made.Operation),
		"release":   map[string]any{"namespace": made.Release.Namespace, "name": made.Release.Name},
		"chartFrom": chart(made.ChartFrom), "chartTo": chart(made.ChartTo),
	}}
}

// hold reports whether the expression is true for the step; an empty one always is. Errors contain
// no values of objects.
func (e *expressions) hold(text string, s *Step) (bool, error) {
	if text == "" {
		return true, nil
	}
	if e.cost > maxExpressionCost {
		return false, errors.New("all expressions together cost too much")
	}
	c, known := e.compiled[text]
	if !known {
		c.Condition, c.err = compileExpression(text)
		e.compiled[text] = c
	}
	if c.err != nil {
		return false, c.err
	}
	if e.of != s {
		seen, err := seenByExpressions(s)
		if err != nil {
			return false, err
		}
		e.of, e.step = s, seen
	}
	holds, cost, err := c.Holds(map[string]any{"step": e.step, "plan": e.plan})
	e.cost += cost
	if err != nil {
		return false, errors.New(withoutValues(err.Error(), text))
	}
	return holds, nil
}

// withoutValues removes from a CEL error such as "no such key: replicas" a key that does not appear
// in the expression itself: it may have been computed from the content of objects.
func withoutValues(message, text string) string {
	what, of, _ := strings.Cut(message, ": ")
	what, _, _ = strings.Cut(what, `"`)
	if of != "" && strings.Contains(text, of) {
		what += ": " + of
	}
	return strings.TrimSpace(what)
}

// seenByExpressions returns the step as in the plan's JSON (see docs/policy.md), with three
// differences: the fields that describe the step and its changes are never absent, "after" is the
// body that is sent if the outcome is not known, and values of Secrets are hidden.
func seenByExpressions(s *Step) (map[string]any, error) {
	shown := *s
	shown.After, shown.Body, shown.Patch = s.outcome(), nil, nil
	raw, err := json.Marshal(shown)
	if err != nil {
		return nil, fmt.Errorf("the step can't be read: %w", err)
	}
	var seen map[string]any
	if err := utiljson.Unmarshal(raw, &seen); err != nil { // integers stay integers
		return nil, fmt.Errorf("the step can't be read: %w", err)
	}
	for _, key := range []string{"apiVersion", "source", "fidelity", "risk"} {
		setIfAbsent(seen, key, "")
	}
	setIfAbsent(seen, "drift", false)
	setIfAbsent(seen, "changes", []any{})
	seen["object"] = map[string]any{"group": s.Object.Group, "kind": s.Object.Kind, "namespace": s.Object.Namespace, "name": s.Object.Name}
	changes, _ := seen["changes"].([]any)
	for i, c := range changes {
		change, _ := c.(map[string]any)
		setIfAbsent(change, "cause", "")
		setIfAbsent(change, "detail", "")
		if s.Changes[i].Sensitive || s.Object.IsSecret() {
			hide(change, "from", "to")
		}
	}
	if s.Object.IsSecret() {
		for _, key := range []string{"before", "after"} {
			hideSecret(seen[key])
		}
	}
	return seen, nil
}

func setIfAbsent(of map[string]any, key string, value any) {
	if _, there := of[key]; !there {
		of[key] = value
	}
}

// hidden replaces a value that expressions must not see.
const hidden = "(sensitive)"

func hide(of map[string]any, keys ...string) {
	for _, key := range keys {
		if _, there := of[key]; there {
			of[key] = hidden
		}
	}
}

// hideSecret hides a Secret's data, and its annotations, which may repeat the data.
func hideSecret(object any) {
	secret, _ := object.(map[string]any)
	for field, value := range secret {
		data, isMap := value.(map[string]any)
		switch {
		case !serverfields.IsSecretField(field):
		case !isMap:
			secret[field] = hidden
		default:
			for key := range data {
				data[key] = hidden
			}
		}
	}
	metadata, _ := secret["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	for key := range annotations {
		annotations[key] = hidden
	}
}
