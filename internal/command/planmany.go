package command

import (
	"context"
	"errors"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/setrun"
	"github.com/kubectl-release/kubectl-release/internal/settrees"
	"github.com/kubectl-release/kubectl-release/plan"
)

const setCategory = "Set"

// setFlags say which releases of a set are planned.
type setFlags struct {
	environment    string
	selectors, env cli.StringSlice
}

func (o *setFlags) flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "environment", Destination: &o.environment, Aliases: []string{"e"}, Usage: "`ENVIRONMENT` of a helmfile; for a releases.yaml, only the releases of this cluster", Category: setCategory},
		&cli.StringSliceFlag{Name: "selector", Destination: &o.selectors, Aliases: []string{"l"}, Usage: "only releases that match `KEY=VALUE` or KEY!=VALUE, several separated by commas: labels, name, namespace, cluster, chart (repeatable: one of them has to match)", Category: setCategory},
		&cli.StringSliceFlag{Name: "env", Destination: &o.env, Usage: "let a helmfile read the environment variable `NAME` (repeatable)", Category: setCategory},
	}
}

// manyFlags are the flags of plan many.
type manyFlags struct {
	planningFlags
	set                              setFlags
	flux                             fluxFlags
	files                            planFileFlags
	capable                          capabilityFlags
	fetch                            fetchFlags
	since, baseDir, outFile          string
	all, prune, printSet, listCharts bool
	noCluster                        bool
	jobs                             int
}

func (o *manyFlags) flags(p *program) []cli.Flag {
	toggle := func(name string, to *bool, usage string) cli.Flag {
		return &cli.BoolFlag{Name: name, Destination: to, Usage: usage, Category: setCategory}
	}
	return joined(o.set.flags(), o.flux.flags(), []cli.Flag{
		&cli.StringFlag{Name: "changed-since", Destination: &o.since, Aliases: []string{"against-ref"}, Usage: "plan what has changed since HEAD branched off from `REF`", Category: setCategory},
		&cli.StringFlag{Name: "base-dir", Destination: &o.baseDir, Usage: "plan what differs from the files in `DIR`: the folder of FILE, or its whole repository, as it was", Category: setCategory},
		toggle("all", &o.all, "plan what has not changed, too"),
		toggle("prune", &o.prune, "plan to uninstall what was removed from the set"),
		toggle("print-set", &o.printSet, "print the declared releases as a releases.yaml, and plan nothing"),
		toggle("list-charts", &o.listCharts, "list the charts that have to be fetched, and plan nothing"),
		&cli.IntFlag{Name: "jobs", Destination: &o.jobs, Usage: "how many releases to plan in parallel", Value: 4, Category: setCategory},
		&cli.StringFlag{Name: "out", Destination: &o.files.out, Usage: "save the plans and their set in the folder `DIR`, for apply many; they hold secrets", Category: savingCategory},
		&cli.StringFlag{Name: "out-file", Destination: &o.outFile, Usage: "like --out, but all in one `FILE`, a tar archive of that folder", Category: savingCategory},
		&cli.BoolFlag{Name: "offline", Destination: &o.fetch.offline, Usage: "contact no cluster and fetch nothing; needs --changed-since or --base-dir", Category: setCategory},
		toggle("no-cluster", &o.noCluster, "contact no cluster, but fetch charts that are not in the cache; needs --changed-since or --base-dir"),
		&cli.StringFlag{Name: "output", Destination: &o.show.output, Aliases: []string{"o"}, Usage: oneOf(setOutputs), Value: "text", Category: planCategory},
		&cli.StringFlag{Name: "field-manager", Destination: &o.options.FieldManager, Usage: "field manager of the fields that are written", Value: plan.FieldManager, Category: applyCategory},
		o.fetch.access.plainHTTPFlag(), o.fetch.mismatchFlag("its repository's index promises"),
		o.files.signFlag("DIR/set.json"),
	}, o.files.sealing(), o.show.flags(&p.showSecrets), o.options.guarding(), o.capable.flags("without a cluster: the Kubernetes `VERSION` that templates see, if the set does not say"),
		o.fetch.verify.flags(), o.fetch.access.flags(), p.paths.flags())
}

func (p *program) planManyCommand() *cli.Command {
	var o manyFlags
	return &cli.Command{
		Name: "many", Usage: "plan many releases that are declared in files", ArgsUsage: "FILE…",
		Description: describe(`Plans the releases that FILE declares, in parallel: a releases.yaml (see
docs/pull-requests.md), a helmfile, or objects of Flux and Argo CD (see docs/flux.md), for
which FILE may be a folder, or - for standard input. With --changed-since or --base-dir,
only releases are planned whose chart, values or options have changed. A release that can't
be planned is reported; the others are still planned.`,
			`kubectl release plan many releases.yaml --changed-since main
kubectl release plan many releases.yaml --changed-since main --no-cluster -o markdown
kubectl release plan many releases.yaml -l tier=front --out plans
kubectl release plan many releases.yaml --all --detailed-exitcode`),
		Flags: o.flags(p),
		Action: p.readOnly(takes(1, 1000, func(ctx context.Context, args []string) error {
			if err := p.calledMany(args); err != nil {
				return err
			}
			return p.planMany(ctx, &o, args)
		})),
	}
}

// calledMany returns an error that helps a user whose release is named "many": the only argument
// is a chart, not the files or the folder of a set. Otherwise it returns nil.
func (p *program) calledMany(args []string) error {
	if len(args) != 1 || !chartload.IsChart(args[0]) {
		return nil
	}
	return usage("%s is a chart, which %q does not take; for a release named many: %s", args[0], strings.Join(p.commandLine.Path, " "), p.command(p.commandLine.Path[0], "--", "many", args[0]))
}

// variables returns the environment variables with the given names; those that are not set are
// empty.
func variables(names []string) map[string]string {
	out := map[string]string{}
	for _, name := range names {
		out[name] = os.Getenv(name)
	}
	return out
}

// clusterless returns the flag by which no cluster is contacted; "" if there is none.
func (o *manyFlags) clusterless() string {
	switch {
	case o.fetch.offline:
		return "offline"
	case o.noCluster:
		return "no-cluster"
	}
	return ""
}

// check refuses flags that make no sense, before anything is read.
func (o *manyFlags) check() error {
	compares := o.since != "" || o.baseDir != ""
	switch {
	case o.since != "" && o.baseDir != "":
		return usage("--changed-since and --base-dir both say what to compare with: give one of them")
	case o.clusterless() != "" && !compares && !o.printSet && !o.listCharts:
		return usage("--%s needs --changed-since or --base-dir: what to compare with; --base-dir /dev/null plans first installs", o.clusterless())
	case o.outFile != "" && o.files.out != "":
		return usage("--out and --out-file both say where to save: give one of them")
	case o.clusterless() != "" && o.files.out+o.outFile != "":
		return usage("--out needs a cluster: what --%s plans can't be applied", o.clusterless())
	case o.prune && !compares:
		return usage("--prune needs --changed-since or --base-dir, to know what was removed from the set")
	case o.show.output != "md" && !slices.Contains(setOutputs, o.show.output):
		return usage("-o %s: must be %s", o.show.output, oneOf(setOutputs))
	}
	saving := o.files
	saving.out += o.outFile
	return errors.Join(saving.check(), o.show.check(setOutputs))
}

// checkInput refuses flags that need files if the set comes from standard input.
func (o *manyFlags) checkInput() error {
	switch {
	case o.flux.kustomizations:
		return usage("--flux takes folders: what comes from standard input is already built")
	case o.since != "" || o.baseDir != "" && o.baseDir != os.DevNull:
		return usage("what comes from standard input has no earlier version to compare with: plan it with a cluster, or with --base-dir /dev/null")
	}
	return nil
}

// reading says how the set is read whose files must stay within root.
func (o *manyFlags) reading(root string) (setrun.Reading, error) {
	r := setrun.Reading{Environment: o.set.environment, Variables: variables(o.set.env.Value()), Offline: o.clusterless() != ""}
	return r, o.flux.add(&r, root)
}

// planMany reads the set, plans it, and shows and saves the result.
func (p *program) planMany(ctx context.Context, o *manyFlags, files []string) error {
	if err := o.check(); err != nil {
		return err
	}
	var input []byte
	if slices.Contains(files, inputfile.StandardInput) {
		var err error
		if err = o.checkInput(); err == nil {
			input, err = p.readFile("FILE", inputfile.StandardInput)
		}
		if err != nil {
			return err
		}
	}
	p.temporary.Store(true)
	t, err := settrees.Open(ctx, settrees.Request{
		Files: files, Input: input, Since: o.since, BaseDir: o.baseDir, Reading: o.reading, Fetch: p.manyFetch(&o.fetch),
	})
	if err != nil {
		return p.reportUnread(o, files, err)
	}
	defer t.Close()
	if o.printSet || o.listCharts { // a plan has these in it
		for _, text := range slices.Concat(t.Head.Set.Unread, t.Head.Set.Warnings) {
			p.warn(text)
		}
	}
	switch {
	case o.printSet:
		text, err := t.Head.Set.Format(path.Dir(path.Join(t.Files[:min(1, len(t.Files))]...)))
		if err == nil {
			_, err = p.raw.Out.Write(text)
		}
		return err
	case o.listCharts:
		return p.listSetCharts(o, t)
	}
	made, err := p.planSet(ctx, o, t)
	if err != nil {
		return p.reportUnread(o, files, err)
	}
	saving := o.files
	saving.out += o.outFile
	if err := p.saveSet(&saving, o.outFile != "", made, t.Head.Clusters(t.Base)); err != nil {
		return p.reportUnread(o, files, err)
	}
	if err := p.renderSet(&o.show, &made.Document); err != nil {
		return err
	}
	return setExit(&made.Document, o.files.detailedExitCode)
}

func (p *program) planSet(ctx context.Context, o *manyFlags, t *settrees.Trees) (*setrun.Planned, error) {
	selector, err := releaseset.ParseSelector(o.set.selectors.Value())
	if err != nil {
		return nil, usage("--selector: %v", err)
	}
	var requests []resolve.Request
	for _, c := range t.Fetched(selector) {
		requests = append(requests, requestFor(c))
	}
	if err := p.oneServer(&o.fetch, requests, "repo add and registry login, or --selector"); err != nil {
		return nil, err
	}
	defaults := plan.Options{FieldManager: o.options.FieldManager}
	if defaults.Policy, err = o.options.policy(); err != nil {
		return nil, err
	}
	if defaults.Sensitive, err = o.show.patterns(); err != nil {
		return nil, err
	}
	key, err := p.effectKey(&o.files.effect)
	if err != nil {
		return nil, err
	}
	clusters := p.manyClusters(o.clusterless() != "")
	clusters.reader = &o.files.reader
	if clusters.capable, err = o.capable.capabilities(); err != nil {
		return nil, err
	}
	planner := setrun.Planner{
		Head: t.Head, Base: t.Base, BaseName: t.BaseName, Selector: selector, All: o.all, Prune: o.prune,
		Defaults: defaults, Clusters: clusters, Jobs: o.jobs, ShowSecrets: p.showSecrets, ToolVersion: toolVersion(), EffectKey: key,
		PolicyChanged: t.PolicyChanged(o.options.policies.Value()), Renamed: t.Renamed, Commit: t.Commit(ctx),
	}
	made, err := planner.Plan(ctx)
	if err != nil {
		return nil, err
	}
	made.Files, made.Head, made.Base = t.Files, t.HeadCommit, t.BaseCommit
	made.Environment, made.Selectors = o.set.environment, o.set.selectors.Value()
	return made, nil
}

// setExit returns the exit code of a set: 1 if a release cannot be planned or is blocked, else
// that of --detailed-exitcode if detailed is set.
func setExit(d *releaseset.Document, detailed bool) error {
	if d.Summary.Failed+d.Summary.Blocked > 0 {
		return codeError(exitError)
	}
	if detailed {
		return effectCode(d.Effect())
	}
	return nil
}
