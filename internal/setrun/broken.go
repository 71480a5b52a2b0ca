package setrun

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/internal/source"
	"github.com/kubectl-release/kubectl-release/plan"
)

// BaseError says that an entry can't be compared because of what it is in the base.
type BaseError struct {
	Base string
	Err  error
}

func (e *BaseError) Error() string { return "in the base " + e.Base + ": " + e.Err.Error() }

// Unwrap returns what is wrong in the base.
func (e *BaseError) Unwrap() error { return e.Err }

// fetchError says that a chart can't be fetched.
type fetchError struct{ error }

// Unwrap returns why.
func (e *fetchError) Unwrap() error { return e.error }

// unmendable reports whether an error of the base is no mistake that a change could mend, but an error as for any
// other chart: it can't be fetched, is not the promised one, or nobody waits for it.
func unmendable(err error) bool {
	_, fetching := errors.AsType[*fetchError](err)
	_, untrusted := errors.AsType[*source.DigestError](err)
	return fetching || untrusted || errors.Is(err, context.Canceled)
}

// baseline enters in base what an entry is compared with without a cluster, if that may be deployed: what the
// base has of it, or why that can't be read. Errors: *BaseError.
func (p *Planner) baseline(ctx context.Context, j *job, base *engine.Baseline) error {
	var err error
	switch {
	case j.base == nil:
		if err = p.unread(j); err == nil {
			return nil
		}
	case j.base.Uninstalled || j.out.Verdict != nil && j.out.Verdict.Anew:
		return nil
	default:
		var before engine.Deployment
		if before, err = p.Base.deployment(ctx, j.base, p.Defaults); err == nil {
			j.given = append(j.given, before.Source.AllValues()...)
		}
		base.Source = before.Source
	}
	if unmendable(err) {
		return &BaseError{p.BaseName, err}
	}
	if base.Kind = plan.AgainstChart; err != nil {
		base.Broken = errors.New(p.shown(j, err))
	}
	return nil
}

// unread returns why an entry that the base seems to lack may be in it after all, nil if it is new.
func (p *Planner) unread(j *job) error {
	if p.Base == nil || j.base != nil || j.managed != nil {
		return nil
	}
	if p.Base.Broken != nil || j.head.Manager == nil {
		return p.Base.Broken
	}
	// What has applied what the base does not have may have come with something that is not known there.
	for name, seen := j.head.Manager.Applier(), 0; seen <= len(p.Head.Set.Appliers); seen++ {
		was, had := p.Base.Set.Appliers[name]
		is := p.Head.Set.Appliers[name]
		if was.Broken != "" {
			return errors.New(was.Broken)
		}
		if remote := was.Fetches(is); remote != "" {
			return fmt.Errorf("%s has been in the place of what is here now, and is not fetched", remote)
		}
		if had || name == "" {
			break
		}
		name = is.By
	}
	return nil
}

// before returns the metadata of the chart that the base's object of an entry deploys, nil for none. Errors: it
// can't be read, or there may be one that can't.
func (p *Planner) before(ctx context.Context, j *job) (*chart.Metadata, error) {
	if j.managed == nil {
		return nil, p.unread(j)
	}
	m := j.managed.Manager
	if err := m.Err(); err != nil {
		return nil, err
	}
	was, err := p.Base.charts.load(ctx, j.managed.Chart, m.Secrets()...)
	if err != nil {
		return nil, err
	}
	return versioned(m, was)
}

// unsettled returns a verdict of a controller that would install a release, but may have deployed it already:
// what the base has of it can't be read. One that keeps no releases does the same whatever is deployed.
func (p *Planner) unsettled(m releaseset.Manager, v releaseset.Verdict) releaseset.Verdict {
	why := "what is deployed is not known, since the base " + p.BaseName + " can't be read: everything counts as created"
	switch {
	case !v.Plans:
	case m.Writer().Storage == "":
		v.Notes = append([]string{why}, v.Notes...)
	default: // its notes begin with why there is something to install
		v.Action, v.Then, v.Notes[0] = unsure, nil, why
	}
	return v
}

// Warn adds to the set what can't be read of base, with which it is compared; name is what base is called.
func (s *Side) Warn(base *Side, name string) {
	if base.Broken != nil {
		s.Set.Warnings = append(s.Set.Warnings, "in "+name+": "+base.Broken.Error()+": with what it declares nothing can be compared, and every release counts as touched")
	}
	for _, text := range base.Set.Unread {
		if !slices.Contains(s.Set.Unread, text) {
			s.Set.Warnings = append(s.Set.Warnings, "in "+name+": "+text+": a release that is new here may be deployed already")
		}
	}
}
