package controller

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/plan"
)

// planGate checks the plans of installs, upgrades and moves.
type planGate struct {
	policy plan.Policy
	// policies is set if there are any.
	policies bool
	// all is set if every plan needs approval.
	all bool
}

// newPlanGate reads what is denied and what needs approval. Errors name the flag, and for a
// policy its file.
func newPlanGate(o Options) (*planGate, error) {
	policy, err := plan.DenyRisks(o.Deny...)
	if err != nil {
		return nil, fmt.Errorf("--deny: %w", err)
	}
	for _, file := range o.Policies {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("--policy: %w", err)
		}
		parsed, err := plan.ParsePolicy(data, filepath.Base(file))
		if err != nil {
			return nil, fmt.Errorf("--policy: %w", err)
		}
		policy = policy.And(parsed)
	}
	return &planGate{policy: policy, policies: len(o.Deny)+len(o.Policies) > 0, all: o.RequireApproval}, nil
}

// check implements reconcile.Gate.
func (g *planGate) check(hr *flux.HelmRelease, made *plan.Plan, is reconcile.Summary) (bool, error) {
	var denied []string
	for _, problem := range g.policy.Denied(made) {
		denied = append(denied, problem.Text())
	}
	if len(denied) > 0 {
		return false, &reconcile.Held{Denied: true, Message: fmt.Sprintf("%s is denied: %s", is.Text, redact.NewMask(made).Text(strings.Join(denied, "; ")))}
	}
	if !g.needsApproval(hr) {
		return false, nil
	}
	if hr.Metadata.Annotations[flux.AnnotationApprove] == is.Digest {
		return true, nil
	}
	return false, &reconcile.Held{Message: flux.NewApproval(hr, is.Text, is.Digest).Message()}
}

func (g *planGate) needsApproval(hr *flux.HelmRelease) bool {
	return g.all || hr.Metadata.Annotations[flux.AnnotationPlan] == flux.RequireApproval
}

// mayHold implements reconcile.Reconciler.MayHold.
func (g *planGate) mayHold(hr *flux.HelmRelease) bool {
	return g.needsApproval(hr) || g.policies
}
