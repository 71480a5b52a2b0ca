package condition_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/condition"
)

func TestCompile(t *testing.T) {
	env, err := condition.Environment([]string{"step"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ why, text, err string }{
		{"a truth value", "step.op == 'delete'", ""},
		{"what can only be known when it is evaluated", "step.drift", ""},
		{"it ends too early", "step.op ==", "1:11: Syntax error"},
		{"an unknown variable, in the second line", "true ||\n other.op", "2:2: undeclared reference to 'other'"},
		{"a function that is charged when it has made a long text", "step.op.replace('a', 'b') == ''", "undeclared reference to 'replace'"},
		{"a text", "'delete'", "neither true nor false: its type is string"},
	} {
		_, err := condition.Compile(env, tc.text)
		said := ""
		if invalid := (*condition.InvalidError)(nil); errors.As(err, &invalid) {
			said = invalid.First()
		} else if err != nil {
			said = err.Error()
		}
		if (tc.err == "") != (err == nil) || !strings.Contains(said, tc.err) {
			t.Errorf("%s: %q gives %q, want %q", tc.why, tc.text, said, tc.err)
		}
	}
}

func TestHolds(t *testing.T) {
	env, err := condition.Environment([]string{"step"})
	if err != nil {
		t.Fatal(err)
	}
	numbers := make([]any, 300)
	for i := range numbers {
		numbers[i] = int64(i)
	}
	step := map[string]any{"op": "delete", "numbers": numbers}
	endless := "step.numbers.all(a, step.numbers.all(b, step.numbers.all(c, step.numbers.all(d, a + b + c + d >= 0))))"
	for _, tc := range []struct {
		why, text, err string
		want           bool
	}{
		{"true", "step.op == 'delete'", "", true},
		{"false", "step.op == 'create'", "", false},
		{"what may be absent", "step.?risk.orValue('') == ''", "", true},
		{"a missing key", "step.risk == ''", "no such key: risk", false},
		{"no truth value", "step.op", "neither true nor false", false},
		{"8.1 billion rounds", endless, "it costs too much", false},
	} {
		c, err := condition.Compile(env, tc.text)
		if err != nil {
			t.Fatal(err)
		}
		got, cost, err := c.Holds(map[string]any{"step": step})
		if (tc.err == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tc.err) || got != tc.want {
			t.Errorf("%s: %t, %v", tc.why, got, err)
		}
		if cost == 0 || cost > condition.CostLimit+1000 {
			t.Errorf("%s: costs %d", tc.why, cost)
		}
	}
}
