package expression_test

import (
	"errors"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/expression"
)

// A readyExpr is a boolean over self and dep. One that does not compile, or is not a
// boolean, is invalid for good; one that fails on an object may work when the object changes.
func TestReady(t *testing.T) {
	self := map[string]any{"spec": map[string]any{"values": map[string]any{"message": "one"}}}
	dep := map[string]any{"status": map[string]any{"history": []any{map[string]any{"chartVersion": "1.1.0"}}, "failures": int64(2)}}
	for _, tc := range []struct {
		why, text      string
		want           bool
		fails, invalid bool
	}{
		{why: "both objects", text: "dep.status.history[0].chartVersion == '1.1.0' && self.spec.values.message == 'one'", want: true},
		{why: "false is no error", text: "dep.status.failures > 2"},
		{why: "a key that is not there may come", text: "dep.status.ready == true", fails: true},
		{why: "it does not parse", text: "dep.status.", fails: true, invalid: true},
		{why: "an unknown variable", text: "other.status", fails: true, invalid: true},
		{why: "no truth value", text: "dep.status.failures", fails: true, invalid: true},
	} {
		got, err := expression.Ready(tc.text, self, dep)
		if got != tc.want || (err != nil) != tc.fails || errors.Is(err, expression.ErrInvalid) != tc.invalid {
			t.Errorf("%s: %q gives %t, %v", tc.why, tc.text, got, err)
		}
	}
}

// Health checks are only parsed: the objects they are evaluated on are known later.
func TestCheck(t *testing.T) {
	good := flux.HealthCheck{APIVersion: "example.com/v1", Kind: "Thing", Current: "status.phase == 'up'"}
	if err := expression.Check([]flux.HealthCheck{good}); err != nil {
		t.Error(err)
	}
	bad := good
	bad.Failed = "status.phase =="
	if err := expression.Check([]flux.HealthCheck{good, bad}); err == nil {
		t.Error("an expression that ends too early is taken")
	}
	group := flux.HealthCheck{APIVersion: "example.com/v1", Current: "true"}
	if err := expression.Check([]flux.HealthCheck{good, group}); err != nil {
		t.Error(err)
	}
	const duplicate = "duplicate custom health check for GroupKind Thing.example.com at healthchecks[1]"
	other := good
	other.APIVersion = "example.com/v2"
	if err := expression.Check([]flux.HealthCheck{good, other}); err == nil || err.Error() != duplicate {
		t.Errorf("two checks for a kind: %v", err)
	}
}
