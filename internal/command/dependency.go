package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/dependency"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

func (p *program) dependencyCommand() *cli.Command {
	return &cli.Command{
		Name: "dependency", Aliases: []string{"dep", "dependencies"}, Usage: "manage the dependencies of a chart", ArgsUsage: "update|build|list",
		Description: describe("Maintains charts/ and Chart.lock. The lock is Helm's, with the digest of each archive added:\na version that is published twice is refused.", "kubectl release dependency update ./web\nkubectl release dependency build ./web"),
		Action:      p.readOnly(only),
		Subcommands: []*cli.Command{p.dependencyUpdateCommand(), p.dependencyBuildCommand(), p.dependencyListCommand()},
	}
}

// dependencyFlags are the flags of dependency update and dependency build.
type dependencyFlags struct {
	bringFlags
	outputFlags
	skipRefresh, recursive, check bool
}

func (o *dependencyFlags) flags(paths *pathFlags) []cli.Flag {
	return joined([]cli.Flag{
		&cli.BoolFlag{Name: "skip-refresh", Destination: &o.skipRefresh, Usage: "do not refresh the indexes of configured repositories"},
		&cli.BoolFlag{Name: "recursive", Destination: &o.recursive, Usage: "do the same for dependencies that are folders (file://…), these first"},
		&cli.BoolFlag{Name: "check", Destination: &o.check, Usage: "write nothing; exit with 2 if something would be written"},
		o.flag(),
	}, o.bringFlags.flags(paths))
}

// bringFlags say how dependencies are fetched.
type bringFlags struct{ fetchFlags }

func (o *bringFlags) flags(paths *pathFlags) []cli.Flag {
	return joined([]cli.Flag{
		o.offlineFlag(),
		o.mismatchFlag("its repository's index, or the lock, promises"),
		o.access.plainHTTPFlag(), o.outsideLinksFlag(),
	}, o.verify.flags(), o.access.flags(), paths.flags())
}

func (p *program) dependencyUpdateCommand() *cli.Command {
	var o dependencyFlags
	return &cli.Command{
		Name: "update", Aliases: []string{"up"}, Usage: "update charts/ and Chart.lock to match Chart.yaml", ArgsUsage: "[CHART]",
		Description: describe(`Chooses the newest versions that Chart.yaml allows, fetches the missing charts, and writes
charts/ and Chart.lock: both completely, or neither. Archives in charts/ that are no longer
dependencies are removed; folders stay.`, `kubectl release dependency update ./web
kubectl release dependency update ./umbrella --recursive
kubectl release dependency update ./web --check`),
		Flags: o.flags(&p.paths),
		Action: p.readOnly(takes(0, 1, func(ctx context.Context, args []string) error {
			return p.dependencies(ctx, &o, folder(args), dependency.Update)
		})),
	}
}

func (p *program) dependencyBuildCommand() *cli.Command {
	var o dependencyFlags
	return &cli.Command{
		Name: "build", Usage: "update charts/ to match Chart.lock", ArgsUsage: "[CHART]",
		Description: describe(`Fetches the charts in Chart.lock that are missing from charts/. Repositories need not be
configured, and charts already present cause no requests. Without a lock, it does the same
as update.`, `kubectl release dependency build ./web
kubectl release dependency build ./web --offline`),
		Flags: o.flags(&p.paths),
		Action: p.readOnly(takes(0, 1, func(ctx context.Context, args []string) error {
			return p.dependencies(ctx, &o, folder(args), dependency.Build)
		})),
	}
}

// bring is the signature of dependency.Update and dependency.Build.
type bring func(ctx context.Context, path string, o dependency.Options) ([]dependency.Outcome, error)

// folder returns the folder in args, or the current one.
func folder(args []string) string {
	if len(args) > 0 {
		return args[0]
	}
	return "."
}

func (p *program) dependencies(ctx context.Context, o *dependencyFlags, path string, bring bring) error {
	form, err := o.format()
	if err != nil {
		return err
	}
	options, err := p.dependencyOptions(&o.fetchFlags)
	if err != nil {
		return err
	}
	options.SkipRefresh, options.Recursive, options.Check = o.skipRefresh, o.recursive, o.check
	outcomes, err := bring(ctx, path, options)
	var unsynced *resolve.OutOfSyncError
	if o.check && errors.As(err, &unsynced) {
		return &codedError{err, exitChanges}
	}
	if err != nil {
		return err
	}
	changed := false
	for _, out := range outcomes {
		p.warnAll(out.Warnings)
		changed = changed || out.Changed
		if form == "text" {
			tellDependencies(p.streams.Out, out, o.check)
		}
	}
	if form != "text" {
		if err := p.structured(form, outcomes); err != nil {
			return err
		}
	}
	if o.check && changed {
		return codeError(exitChanges)
	}
	return nil
}

// dependencyOptions returns the options that all commands that fetch dependencies have in common.
func (p *program) dependencyOptions(o *fetchFlags) (dependency.Options, error) {
	s, err := p.sources(o)
	if err != nil {
		return dependency.Options{}, err
	}
	now, err := sourceDate()
	if now.IsZero() {
		now = time.Now()
	}
	return dependency.Options{Sources: s, Load: o.load, Now: now}, err
}

// tellDependencies prints what was done with a chart's dependencies or, with check, what would be
// done.
func tellDependencies(w io.Writer, out dependency.Outcome, check bool) {
	say := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
	for _, d := range out.Dependencies {
		line := strings.TrimRight(d.Name+" "+d.Version, " ")
		switch {
		case !d.New:
			line += ": already in charts/"
		case d.Origin == "" && check:
			line += ": missing from charts/"
		case d.Origin == "":
			line += ": from the cache"
		default:
			line += ": " + d.Origin
		}
		say("%s", strings.TrimRight(line+" "+d.Digest, " "))
	}
	for _, file := range out.Removed {
		say("charts/%s: no longer a dependency", file)
	}
	switch {
	case len(out.Dependencies) == 0:
		say("%s has no dependencies", out.Chart)
	case !out.Changed:
		say("%s is up to date", out.Chart)
	case check:
		say("%s is out of date", out.Chart)
	case out.LockChanged:
		say("%s: charts/ and the lock are up to date now", out.Chart)
	default:
		say("%s: charts/ is up to date now", out.Chart)
	}
}
