package engine

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
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

// outsideError says that what failed during a rendering is no fault of the chart or its values, such as a request
// to the cluster.
type outsideError struct{ error }

// Unwrap returns what failed.
func (e *outsideError) Unwrap() error { return e.error }

// outside marks an error, if there is one, as an *outsideError.
func outside(err error) error {
	if err == nil {
		return nil
	}
	return &outsideError{err}
}

// faulty returns why the baseline can't be rendered: as a *brokenError, if a change of the chart or its values can mend it.
func (c comparison) faulty(ctx context.Context, err error) error {
	_, requesting := errors.AsType[*outsideError](err)
	_, running := errors.AsType[*exec.ExitError](err) // a post-renderer, which is the same for both sides
	if ctx.Err() != nil || requesting || running {
		return fmt.Errorf("render %s: %w", c.baseline.Against, err)
	}
	return &brokenError{c.baseline.Against, err}
}

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
