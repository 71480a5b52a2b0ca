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

// review judges the plans of installs, upgrades and moves.
type review struct {
	policy plan.Policy
	// all says that every plan needs an approval.
	all bool
}

// newReview reads what is denied and what needs an approval. Errors name the flag or
// the file.
func newReview(o Options) (*review, error) {
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
	return &review{policy: policy, all: o.RequireApproval}, nil
}

// judge implements reconcile.Reviewer.
func (r *review) judge(hr *flux.HelmRelease, made *plan.Plan) (string, error) {
	var denied []string
	for _, problem := range r.policy.Denied(made) {
		denied = append(denied, problem.Text())
	}
	if len(denied) > 0 {
		return "", &reconcile.Held{Denied: true, Message: fmt.Sprintf("%s is denied: %s", summary(made), redact.NewMask(made).Text(strings.Join(denied, "; ")))}
	}
	if !r.all && hr.Metadata.Annotations[flux.AnnotationPlan] != flux.RequireApproval {
		return "", nil
	}
	digest := redact.EffectDigest(made, nil)
	if hr.Metadata.Annotations[flux.AnnotationApprove] == digest {
		return fmt.Sprintf("%s was approved by %s", summary(made), digest), nil
	}
	return "", &reconcile.Held{Message: flux.NewApproval(hr, summary(made), digest).Message()}
}

// maxNamed is how many objects a summary names.
const maxNamed = 12

// summary says what a plan does: the operation, the versions, and the objects that it
// touches.
func summary(made *plan.Plan) string {
	var named []string
	n := 0
	for _, stage := range made.Stages {
		for _, wave := range stage.Waves {
			for _, step := range wave.Steps {
				if !step.Writes() || step.Object.Kind == "" {
					continue
				}
				if n++; n <= maxNamed {
					named = append(named, fmt.Sprintf("%s %s/%s", step.Op, step.Object.Kind, step.Object.Name))
				}
			}
		}
	}
	if n > maxNamed {
		named = append(named, fmt.Sprintf("and %d more", n-maxNamed))
	}
	if n == 0 {
		named = []string{"no object changes"}
	}
	if made.Operation == plan.Uninstall {
		return fmt.Sprintf("uninstall of release %s, for the HelmRelease means another one by now (%s)", made.Release, strings.Join(named, ", "))
	}
	return fmt.Sprintf("%s to revision %d with chart %s@%s (%s)", made.Operation, made.ToRevision, made.ChartTo.Name, made.ChartTo.Version, strings.Join(named, ", "))
}
