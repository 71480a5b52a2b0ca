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
	// Base is what the set was before; nil when there is nothing to compare with.
	Base *Side
	// BaseName is what people call it.
	BaseName string
	// Commit is that of what is compared with, or of the head where nothing is; "" outside
	// of Git.
	Commit   string
	Selector releaseset.Selector
	// PolicyChanged says that Defaults.Policy is another one than the base has: every
	// release is touched.
	PolicyChanged bool
	// All plans what is untouched, too; Prune uninstalls what has left the set.
	All, Prune bool
	// Defaults are the options that no entry says: policy, field manager, what is
	// sensitive.
	Defaults plan.Options
	// Clusters are what to plan for.
	Clusters Clusters
	// Jobs is how many releases are planned side by side.
	Jobs int
	// ShowSecrets leaves the documents unmasked.
	ShowSecrets bool
	ToolVersion string
}

// Clusters gives what plans need to know of clusters, by their name in the set. It is
// asked side by side, and gives the same for the same name.
type Clusters interface {
	// Engine is for a cluster that can be asked, as a user who is impersonated, "" for
	// nobody; nil where none is asked.
	Engine(name string, c releaseset.Cluster, user string) (*engine.Engine, error)
	// Foreign is for the cluster of a kubeconfig that somebody else has written. Errors: it is
	// refused, or nobody answers there.
	Foreign(ctx context.Context, kubeconfig []byte, user string) (*engine.Engine, error)
	// Offline stands for one that can't be.
	Offline(name string, c releaseset.Cluster) (engine.Offline, error)
}

// Planned is a set's plan: the document that is shown, masked, and the plans that can be
// saved, by key.
type Planned struct {
	releaseset.Document
	Plans map[releaseset.Key]*plan.Plan
	// Unknown are the objects that values of a plan come from and whose content is not
	// known: markers stand for it, and the plan can't be saved.
	Unknown map[releaseset.Key][]string
}

// job is one entry to plan, in the place of the document that it fills.
type job struct {
	out  *releaseset.Planned
	head *releaseset.Entry
	base *releaseset.Entry
	made *plan.Plan
	// given are the values of both sides, for masking what templates quote of them.
	given []map[string]any
	// managed is what the base has of the object that deploys the entry; successor says
	// that the head has the object of an entry that has left, under another release.
	managed   *releaseset.Entry
	successor bool
	// asked is the engine that plans the entry, see Planner.engine; drift the plan of what
	// its controller corrects.
	asked *engine.Engine
	// own is that by the rights of whoever plans; reader says that these are not the
	// controller's.
	own    *engine.Engine
	reader bool
	// elsewhere is why the cluster that the entry's release is in can't be asked, "" where it is.
	elsewhere string
	// bare is asked with the records in the release's own namespace.
	bare  *engine.Engine
	drift *plan.Plan
}

// Plan plans all entries that are selected and touched. What goes wrong with one of
// them stands in the document, and the others are planned all the same. Errors: the
// run was cancelled, needs in a circle.
func (p *Planner) Plan(ctx context.Context) (*Planned, error) {
	out := &Planned{Plans: map[releaseset.Key]*plan.Plan{}, Unknown: map[releaseset.Key][]string{}}
	out.FormatVersion, out.ToolVersion, out.Compared = releaseset.FormatVersion, p.ToolVersion, p.Base != nil
	out.Warnings, out.Unread = p.Head.Set.Warnings, p.Head.Set.Unread
	jobs, err := p.jobs()
	if err != nil {
		return nil, err
	}
	group := errgroup.Group{}
	group.SetLimit(max(1, p.Jobs))
	for _, j := range jobs {
		group.Go(func() error {
			p.run(ctx, j)
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, context.Cause(ctx)
	}
	p.deferBlocked(ctx, jobs)
	for _, j := range jobs {
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

// jobs are the selected entries of both sides, in the order of their needs.
func (p *Planner) jobs() ([]*job, error) {
	before, managed := map[releaseset.Key]*releaseset.Entry{}, map[string]*releaseset.Entry{}
	if p.Base != nil {
		for i := range p.Base.Set.Entries {
			e := &p.Base.Set.Entries[i]
			before[e.Key] = e
			if e.Manager != nil {
				managed[e.Manager.String()] = e
			}
		}
	}
	var selected []releaseset.Entry
	for _, e := range p.Head.Set.Entries {
		if p.Selector.Selects(e) {
			selected = append(selected, e)
		}
	}
	waves, err := releaseset.Waves(selected)
	if err != nil {
		return nil, err
	}
	var out []*job
	for _, e := range slices.Concat(waves...) {
		j := &job{out: planned(&e), head: &e, base: before[e.Key]}
		if e.Manager != nil {
			j.managed = managed[e.Manager.String()]
		}
		out = append(out, j)
	}
	stayed := map[string]bool{}
	for _, e := range p.Head.Set.Entries {
		delete(before, e.Key)
		if e.Manager != nil {
			stayed[e.Manager.String()] = true
		}
	}
	if p.Base == nil {
		return out, nil
	}
	for _, e := range p.Base.Set.Entries {
		if before[e.Key] != nil && !e.Uninstalled && p.Selector.Selects(e) {
			left := &job{out: planned(&e), base: &e}
			left.out.Left = true
			left.successor = e.Manager != nil && stayed[e.Manager.String()]
			out = append(out, left)
		}
	}
	return out, nil
}

func planned(e *releaseset.Entry) *releaseset.Planned {
	out := &releaseset.Planned{Key: e.Key, Release: e.Release(), Cluster: e.Cluster, Chart: e.Chart, From: e.From, Needs: e.Needs}
	if e.Manager != nil {
		out.Manager = e.Manager.String()
	}
	return out
}

// run settles whether an entry is touched, and plans it if so.
func (p *Planner) run(ctx context.Context, j *job) {
	switch {
	case j.head == nil && j.base.Manager != nil:
		if j.out.Touched = true; !j.left(p.Head.Set) && !p.Prune {
			return
		}
	case j.head == nil && !p.Prune:
		return
	case j.head == nil, p.Base == nil:
		j.out.Touched = true
	case j.base == nil:
		j.out.Touched, j.out.Because = !j.head.Uninstalled, []string{"new in the set"}
	case j.head.Uninstalled && j.base.Uninstalled:
	default:
		j.out.Because = p.Head.closure(j.head).because(p.Base.closure(j.base))
		if p.PolicyChanged {
			j.out.Because = append(j.out.Because, "policy")
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
		j.out.Error = j.unknown() + p.errorText(err, j)
		return
	}
	if made == nil {
		return // there is nothing to uninstall
	}
	p.keep(j, made)
}

// keep gives a job its plan, and the document that is shown of it.
func (p *Planner) keep(j *job, made *plan.Plan) {
	stamped, _, _ := made.Stamped(plan.Stamp{EffectDigest: redact.EffectDigest(made, nil)}) // errors are of plans that are saved
	j.made = stamped.WithSecrets(redact.Recurring(made))
	shown := j.made
	if !p.ShowSecrets {
		shown = redact.Plan(shown)
	}
	j.out.Plan = &shown.Document
}

// errorText is an error without the secrets that it quotes: those of the values, and
// what templates have read.
func (p *Planner) errorText(err error, j *job) string {
	text := err.Error()
	if p.ShowSecrets {
		return text
	}
	var quoting *engine.RenderError
	var read [][]byte
	if errors.As(err, &quoting) {
		read = quoting.Secrets
	}
	for _, e := range []*releaseset.Entry{j.head, j.base} {
		if e != nil && e.Manager != nil {
			read = append(read, e.Manager.Secrets()...)
		}
	}
	for _, table := range append(j.given, nil) {
		text = redact.NewValuesMask(table, read...).Text(text)
	}
	return text
}
