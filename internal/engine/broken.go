package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/plan"
)

// brokenError says that the baseline of a comparison is a chart that can't be rendered. What mends it can
// still be planned, compared with nothing.
type brokenError struct {
	against plan.Against
	err     error
}

func (e *brokenError) Error() string { return fmt.Sprintf("render %s: %v", e.against, e.err) }

// Unwrap returns what is wrong with the baseline.
func (e *brokenError) Unwrap() error { return e.err }

// warning says what such a plan does not show. Secrets that the error quotes are masked, known ones among
// them.
func (e *brokenError) warning(known [][]byte) plan.Problem {
	quoted, secrets := Quoted(e.err)
	return plan.Problem{
		Foremost: true,
		What:     fmt.Sprintf("%s can't be rendered, so what it deployed is not known: %s", e.against.Name, redact.NewValuesMask(quoted, nil, slices.Concat(secrets, known)...).Text(e.err.Error())),
		Do:       "review all of what is rendered: what exists already is shown as created, and what is deleted is not shown; a plan with a cluster knows both",
	}
}

// mended plans a target whose baseline can't be rendered: as an upgrade of a release without any objects, since
// what is deployed may be what the baseline was before it broke.
func (c comparison) mended(ctx context.Context, g gathered, why *brokenError) (*plan.Plan, error) {
	c.warnings = append(c.warnings, why.warning(c.baseline.Source.Secrets))
	against := plan.Against{Kind: plan.AgainstNothing, Offline: c.baseline.Offline}
	c.baseline = Baseline{Against: against, Broken: why.err, AsInstall: c.baseline.AsInstall}
	if against.Offline {
		c.Source.Reuse = values.ResetValues
	}
	return c.plan(ctx, g)
}

// unknownBase is the content of a release of which nothing is known but that it is deployed.
func (c comparison) unknownBase() base {
	return base{revision: &release.Revision{
		Name: c.Release.Name, Namespace: c.Release.Namespace, ApplyMethod: release.ServerSide, Info: release.Info{Status: release.StatusDeployed},
	}}
}
