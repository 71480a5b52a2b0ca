package command

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/dependency"
)

func (p *program) dependencyCommand() *cli.Command {
	return &cli.Command{
		Name: "dependency", Aliases: []string{"dep", "dependencies"}, Usage: "bring the charts that a chart depends on", ArgsUsage: "update|build|list",
		Description: describe("Keeps charts/ and Chart.lock. The lock is Helm's, with the digest of each archive besides:\na version that is published twice is refused.", "kubectl release dependency update ./web\nkubectl release dependency build ./web"),
		Action: p.readOnly(func(c *cli.Context) error {
			if c.Args().Present() {
				return unknownCommand(c.Command.Subcommands, c.Args().First(), c.Command.HelpName)
			}
			return cli.ShowSubcommandHelp(c)
		}),
		Subcommands: []*cli.Command{p.dependencyUpdateCommand(), p.dependencyBuildCommand(), p.dependencyListCommand()},
	}
}

// dependencyFlags are those of update and build.
func dependencyFlags() []cli.Flag {
	return joined([]cli.Flag{
		&cli.BoolFlag{Name: "skip-refresh", Usage: "take the indexes of configured repositories as they are"},
		&cli.BoolFlag{Name: "recursive", Usage: "do the same for folders that are dependencies (file://…), these first"},
		&cli.BoolFlag{Name: "check", Usage: "write nothing: exit with 2 when something would be"},
		outputFlag(),
	}, bringingFlags())
}

// bringingFlags say how dependencies are fetched.
func bringingFlags() []cli.Flag {
	return joined([]cli.Flag{
		&cli.BoolFlag{Name: "offline", Usage: "fetch nothing: charts come from the cache, or not at all", Category: chartCategory},
		&cli.BoolFlag{Name: "allow-digest-mismatch", Usage: "use a chart that is not the one that its repository's index, or the lock, promises", Category: chartCategory},
		plainHTTPFlag(), outsideLinksFlag(),
	}, verifyFlags(), accessFlags(), pathFlags())
}

func (p *program) dependencyUpdateCommand() *cli.Command {
	return &cli.Command{
		Name: "update", Aliases: []string{"up"}, Usage: "bring charts/ and Chart.lock up to date with Chart.yaml", ArgsUsage: "[CHART]",
		Description: describe("Chooses the newest versions that Chart.yaml allows, fetches the charts that are not there,\nand writes charts/ and Chart.lock: both as a whole, or nothing. Archives in charts/ that\nare no dependency any more are removed; folders stay.", "kubectl release dependency update ./web\nkubectl release dependency update ./umbrella --recursive\nkubectl release dependency update ./web --check"),
		Flags:       dependencyFlags(),
		Action:      p.readOnly(func(c *cli.Context) error { return p.dependencies(c, dependency.Update) }),
	}
}

func (p *program) dependencyBuildCommand() *cli.Command {
	return &cli.Command{
		Name: "build", Usage: "bring charts/ up to date with Chart.lock", ArgsUsage: "[CHART]",
		Description: describe("Fetches what Chart.lock says and charts/ does not have. No repository has to be configured;\nnobody is asked for what is there. Without a lock it is update.", "kubectl release dependency build ./web\nkubectl release dependency build ./web --offline"),
		Flags:       dependencyFlags(),
		Action:      p.readOnly(func(c *cli.Context) error { return p.dependencies(c, dependency.Build) }),
	}
}

// bring is dependency.Update or dependency.Build.
type bring func(ctx context.Context, path string, o dependency.Options) ([]dependency.Outcome, error)

func (p *program) dependencies(c *cli.Context, bring bring) error {
	args, err := arguments(c, 0, 1)
	if err != nil {
		return err
	}
	form, err := format(c)
	if err != nil {
		return err
	}
	o, err := dependencyOptions(c)
	if err != nil {
		return err
	}
	o.SkipRefresh, o.Recursive, o.Check = c.Bool("skip-refresh"), c.Bool("recursive"), c.Bool("check")
	path := "."
	if len(args) > 0 {
		path = args[0]
	}
	outcomes, err := bring(c.Context, path, o)
	if err != nil {
		return err
	}
	changed := false
	for _, out := range outcomes {
		p.warnAll(out.Warnings)
		changed = changed || out.Changed
		if form == "text" {
			tellDependencies(p.streams.Out, out, o.Check)
		}
	}
	if form != "text" {
		if err := p.structured(form, outcomes); err != nil {
			return err
		}
	}
	if o.Check && changed {
		return codeError(exitChanges)
	}
	return nil
}

// dependencyOptions are what the flags say that every command has which brings
// dependencies.
func dependencyOptions(c *cli.Context) (dependency.Options, error) {
	s, err := sources(c)
	if err != nil {
		return dependency.Options{}, err
	}
	now, err := sourceDate()
	if now.IsZero() {
		now = time.Now()
	}
	return dependency.Options{Sources: s, Load: chartOptions(c), Now: now}, err
}

// tellDependencies says what has become of a chart's dependencies, or would.
func tellDependencies(w io.Writer, out dependency.Outcome, check bool) {
	say := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
	for _, d := range out.Dependencies {
		line := strings.TrimRight(d.Name+" "+d.Version, " ")
		switch {
		case !d.New:
			line += ": is there"
		case d.Origin == "":
			line += ": is not in charts/"
		default:
			line += ": " + d.Origin
		}
		say("%s", strings.TrimRight(line+" "+d.Digest, " "))
	}
	for _, file := range out.Removed {
		say("charts/%s: no dependency any more", file)
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
