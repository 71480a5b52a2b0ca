package setrun

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Planner plans the releases of a set.
type Planner struct {
	Head *Side
	// Base is the set as it was before; nil if there is nothing to compare with.
	Base *Side
	// BaseName is the name of Base in messages.
	BaseName string
	// Commit is the commit of Base, or of Head without one; "" outside Git.
	Commit   string
	Selector releaseset.Selector
	// PolicyChanged reports whether Defaults.Policy differs from the base's: then every
	// release is touched.
	PolicyChanged bool
	// Renamed reports whether a file of the set has another name in the base: then every release that names
	// no cluster is touched, since nothing else says that both are for the same.
	Renamed bool
	// All plans untouched releases too; Prune uninstalls those that have left the set, unless a controller
	// deploys them, which decides that itself.
	All, Prune bool
	// Defaults holds the options that entries do not set: policy, field manager, what is
	// sensitive.
	Defaults plan.Options
	// Clusters holds the clusters to plan for.
	Clusters Clusters
	// Jobs is how many releases are planned in parallel.
	Jobs int
	// ShowSecrets leaves the documents unmasked.
	ShowSecrets bool
	ToolVersion string
	// EffectKey makes effect digests cover the values of secrets, too; nil if they are not to.
	EffectKey []byte
}

// Clusters provides access to clusters by their name in the set. It is used concurrently,
// and returns the same for the same name.
type Clusters interface {
	// Engine returns the engine for a cluster, impersonating user unless that is ""; nil if
	// plans are made without a cluster.
	Engine(name string, c releaseset.Cluster, user string) (*engine.Engine, error)
	// Foreign returns the engine for the cluster of a kubeconfig that somebody else has
	// written, impersonating user unless that is "". Errors: the kubeconfig is refused, or the
	// cluster does not answer.
	Foreign(ctx context.Context, kubeconfig []byte, user string) (*engine.Engine, error)
	// Offline returns the substitute for a cluster for which Engine returns nil.
	Offline(name string, c releaseset.Cluster) (engine.Offline, error)
}

// Planned is a set's plan: the document that is shown, with secrets masked, and the plans that
// can be saved, by key.
type Planned struct {
	releaseset.Document
	Plans map[releaseset.Key]*plan.Plan
	// Unknown holds, by key, the objects that values of a plan come from but whose content is
	// not known: markers replace it, and the plan can't be saved.
	Unknown map[releaseset.Key][]string
	// needs are those of all entries, selected or not; before are those of the base's entries.
	needs, before map[releaseset.Key][]releaseset.Key
}

// job is one entry to plan; out is the part of the document that it fills.
type job struct {
	out  *releaseset.Planned
	head *releaseset.Entry
	base *releaseset.Entry
	made *plan.Plan
	// given holds the values of both sides, for masking them where templates quote them.
	given []any
	// managed is the base's entry of the object that deploys this one; successor is the head's entry
	// of the object of base, with another release unless it still is this one's.
	managed, successor *releaseset.Entry
	// asked is the engine that plans the entry, see Planner.engine.
	asked *engine.Engine
	// own is the engine with the user's own permissions; reader reports whether asked plans
	// with permissions that are not the controller's.
	own    *engine.Engine
	reader bool
	// elsewhere is why the cluster of the entry's release can't be asked, "" if it can.
	elsewhere string
	// bare is asked, but with the records in the release's own namespace; drift is the plan of
	// what the controller corrects.
	bare  *engine.Engine
	drift *plan.Plan
}

// Plan plans all entries that are selected and touched. The error of an entry goes into the
// document, and the others are planned anyway. Errors: the run was cancelled; needs are
// circular.
func (p *Planner) Plan(ctx context.Context) (*Planned, error) {
	out := &Planned{Plans: map[releaseset.Key]*plan.Plan{}, Unknown: map[releaseset.Key][]string{}}
	out.FormatVersion, out.ToolVersion, out.Compared = releaseset.FormatVersion, p.ToolVersion, p.Base != nil
	if out.needs = p.Head.Set.Needs(); p.Base != nil {
		out.before = p.Base.Set.Needs()
	}
	mask := p.mask(&job{}, nil)
	jobs, err := p.jobs()
	out.Warnings, out.Unread = mask.Texts(p.Head.Set.Warnings), mask.Texts(p.Head.Set.Unread)
	if err != nil {
		return nil, err
	}
	group := errgroup.Group{}
	group.SetLimit(max(1, p.Jobs))
	for _, j := range jobs {
		group.Go(func() error {
			if ctx.Err() == nil {
				p.run(ctx, j)
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, context.Cause(ctx)
	}
	p.deferBlocked(ctx, jobs)
	out.Warnings = append(out.Warnings, mask.Texts(eachCommit(jobs))...)
	for _, j := range jobs {
		if v := j.out.Verdict; v != nil {
			v.Notes = p.mask(j, nil).Texts(v.Notes)
		}
		out.Releases = append(out.Releases, *j.out)
		if j.made != nil {
			out.Plans[j.out.Key] = j.made
			if unknown := j.missing(); len(unknown) > 0 {
				out.Unknown[j.out.Key] = unknown
			}
		}
	}
	out.Finish()
	return out, nil
}

// asked returns the cluster that is asked about an entry: with a manager, the one that has the manager's object.
func (p *Planner) asked(e *releaseset.Entry) (name string, cluster releaseset.Cluster) {
	if e.Manager != nil {
		return "", releaseset.Cluster{}
	}
	return e.Cluster, p.Head.Clusters(p.Base)[e.Cluster]
}

func planned(e *releaseset.Entry) *releaseset.Planned {
	out := &releaseset.Planned{Key: e.Key, Release: e.Release(), Cluster: e.Cluster, Chart: e.Chart.Public(), From: e.From, Needs: e.Needs}
	if e.Manager != nil {
		out.Manager = e.Manager.String()
	}
	return out
}

// run determines whether an entry is touched, and plans it if so.
func (p *Planner) run(ctx context.Context, j *job) {
	switch {
	case j.head == nil && j.base.Manager != nil:
		j.out.Touched = true
		if uninstalled, err := p.left(ctx, j); err != nil {
			p.fail(j, err)
			return
		} else if !uninstalled {
			return
		}
	case j.head == nil && !p.Prune:
		return
	case j.head == nil:
		j.out.Touched = true
		if err := p.unprunable(j.base); err != nil {
			p.fail(j, err)
			return
		}
	case p.Base == nil:
		j.out.Touched = true
	case j.base == nil && j.head.Uninstalled: // only a cluster knows whether there is something to uninstall
		asked, err := p.engine(ctx, j)
		if err != nil {
			p.fail(j, err)
			return
		}
		j.out.Touched, j.out.Because = asked != nil, []string{"new in the set"}
	case p.unread(j) != nil:
		j.out.Touched, j.out.Because = true, []string{"not readable in the base"}
	case j.base == nil:
		j.out.Touched, j.out.Because = true, []string{"new in the set"}
	case j.head.Uninstalled && j.base.Uninstalled:
	default:
		j.out.Because = p.Head.closure(j.head).because(p.Base.closure(j.base))
		if p.PolicyChanged {
			j.out.Because = append(j.out.Because, "policy")
		}
		if p.Renamed && j.head.Cluster == "" {
			j.out.Because = append(j.out.Because, "renamed file")
		}
		j.out.Touched = len(j.out.Because) > 0
	}
	if !j.out.Touched && !p.All {
		j.out.Because = nil
		return
	}
	planned, err := p.verdict(ctx, j)
	if err == nil && !planned {
		return
	}
	var made *plan.Plan
	if err == nil {
		made, err = p.plan(ctx, j)
	}
	if err != nil {
		p.fail(j, err)
		return
	}
	if made == nil {
		return // nothing to plan, such as a release to uninstall that does not exist
	}
	p.keep(j, made)
}

// fail records why a job can't be planned.
func (p *Planner) fail(j *job, err error) {
	j.out.Error = j.unknown() + p.shown(j, err)
	var in *engine.TemplateError
	if errors.As(err, &in) {
		j.out.ErrorAt = releaseset.Place(in.Place)
	}
}

// shown returns an error with the names that files have in the set. Secrets are masked first: they may have
// names of folders in them.
func (p *Planner) shown(j *job, err error) string {
	return inSet(p.mask(j, err).Text(err.Error()), p.folders())
}

// keep stores a job's plan, and the document in which it is shown.
func (p *Planner) keep(j *job, made *plan.Plan) {
	stamped, _, _ := made.Stamped(plan.Stamp{EffectDigest: redact.EffectDigest(made, p.EffectKey)}) // it fails only for plans that are saved
	j.made = stamped.WithSecrets(redact.Recurring(made))
	shown := j.made
	if !p.ShowSecrets {
		shown = redact.Plan(shown)
	}
	j.out.Plan = &shown.Document
}

// mask returns the mask for texts about a job: it hides the secrets of its values, what its
// controller reads, and what err quotes, which may be nil. It is nil with ShowSecrets.
func (p *Planner) mask(j *job, err error) *redact.Mask {
	if p.ShowSecrets {
		return nil
	}
	values, secrets := engine.Quoted(err)
	secrets = slices.Clone(secrets)
	for _, e := range []*releaseset.Entry{j.head, j.base} {
		if e != nil && e.Manager != nil {
			secrets = append(secrets, e.Manager.Secrets()...)
		}
	}
	return redact.NewValuesMask(slices.Concat(j.given, values), nil, secrets...)
}
