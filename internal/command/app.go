// Package command is the command line: it parses flags into requests for the engine, prints
// results, asks questions and chooses exit codes.
//
// It is the only package that prints. It decides nothing about releases.
package command

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/urfave/cli/v2"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-release/kubectl-release/internal/argv"
	"github.com/kubectl-release/kubectl-release/internal/helptext"
	"github.com/kubectl-release/kubectl-release/internal/invocation"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/terminal"
)

// Version is the program's version; release builds set it with -ldflags -X.
var Version = "0.1.0-dev"

// Streams are the program's standard streams.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Main runs the program with args (args[0] is its name) and returns its exit code (see the table in
// exit.go). When ctx ends, the program stops in an orderly way. When leave is closed, it prints the
// state that it leaves behind and returns immediately.
func Main(ctx context.Context, leave <-chan struct{}, args []string, s Streams) int {
	cli.FlagStringer = helptext.FlagLine // the library offers only this global variable
	if _, err := os.UserHomeDir(); err != nil {
		clientcmd.RecommendedHomeFile = "" // else it is .kube/config in the working directory, perhaps somebody's checkout
	}
	s.Out, s.Err = terminal.Outlived(s.Out), terminal.Outlived(s.Err)
	if completes(ctx, args, s) {
		return exitDone
	}
	p := newProgram(s, invocation.Name(args[0], os.Getenv(helmPlugin), os.Getenv("_")))
	p.brokenPipes = terminal.OutlivePipes()
	return p.main(ctx, leave, args)
}

// main runs the program; see Main.
func (p *program) main(ctx context.Context, leave <-chan struct{}, args []string) int {
	app := p.appFor(args[1:])
	done := make(chan error, 1)
	go func() { done <- p.run(ctx, app, args) }()
	select {
	case err := <-done:
		p.endQuestion()
		return p.exit(err)
	case <-leave:
		p.endQuestion()
		return p.left(ctx)
	}
}

func (p *program) run(ctx context.Context, app *cli.App, args []string) (err error) {
	if p.commandLine, err = lineRules.Parse(app, args[1:]); err != nil {
		return err
	}
	var help bytes.Buffer // nothing else is written there
	app.Writer = &help
	err = app.RunContext(ctx, append(args[:1:1], p.commandLine.Words()...))
	if help.Len() == 0 {
		return err
	}
	return cmp.Or(err, p.printHelp(help.String()))
}

// program is one run of the command line.
type program struct {
	// streams remove control characters (see terminal.Clean). raw are the streams as the program was given
	// them, for text that is already safe or must not be changed.
	streams, raw Streams
	// region is the bottom of the terminal that is standard error, below streams.Err; nil if it is none.
	region *terminal.Region
	// invocation is how the program was called, for hints that can be pasted into a shell.
	invocation invocation.Invocation
	// commandLine is the parsed command line.
	commandLine *argv.Line
	// partly says that other releases of the set have been written.
	partly bool
	// underway is the state that the program would leave behind if it stopped now.
	underway underway
	// connection, paths and showSecrets are flags that mean the same for every command that has
	// them.
	connection  connectionFlags
	paths       pathFlags
	showSecrets bool
	secrecy
	// follows says that a document of YAML is on standard output, which another one may follow.
	follows bool
	// servers are the origins that the access of flags was given for (see oneServer).
	servers []string
	// dial returns a client for the cluster that the flags name, and the namespace.
	dial func(*connectionFlags) (api, string, error)
	// transport, if not nil, wraps the transport of all requests to a cluster.
	transport func(http.RoundTripper) http.RoundTripper
	// flags are the flags of each command, by its name, such as "apply many", without the connection flags and Helm's
	// flags that have no effect here.
	flags map[string][]cli.Flag
	// presenter shows the progress and the result of a command that applies.
	presenter presenter
	// input is what standard input had, and the flag or argument that it was read for.
	input struct {
		by   string
		data []byte
		err  error
	}
	// charts are the charts that this run has fetched.
	charts map[resolve.Request]located
	// unknownPlugins makes the warning about unknown plugins appear once.
	unknownPlugins sync.Once
	// question ends a question that turned the terminal's echo off and was not answered; nil if there is none.
	question atomic.Pointer[func()]
	// temporary is set by an action that removes temporary files at its end.
	temporary atomic.Bool
	// brokenPipes lets the program outlive its output; see terminal.OutlivePipes.
	brokenPipes chan os.Signal
}

func newProgram(s Streams, name string) *program {
	p := &program{raw: s, streams: Streams{In: s.In, Out: terminal.Clean(s.Out), Err: terminal.CleanLog(s.Err)}, invocation: invocation.Invocation{Program: name}}
	if p.region = terminal.RegionOf(s.Err); p.region != nil {
		p.streams.Err = terminal.Clean(p.region)
	}
	p.dial, p.presenter = p.dialKubeconfig, textPresenter{p, &showFlags{}}
	return p
}

// app returns the command line with all its commands and flags.
func (p *program) app() *cli.App {
	return p.appOf(func(*cli.Command) bool { return true })
}

// appFor is app for one command line: a command that no word of the line names has only its name
// and usage. Building the flags of all commands would take more processor time than many commands
// do. --version without a command is the command of that name.
func (p *program) appFor(line []string) *cli.App {
	return p.appOf(func(c *cli.Command) bool {
		return c.Name == "version" && slices.Contains(line, "--version") || slices.ContainsFunc(c.Names(), func(name string) bool { return slices.Contains(line, name) })
	})
}

// appOf returns the command line; only the wanted commands are complete.
func (p *program) appOf(wanted func(*cli.Command) bool) *cli.App {
	app := &cli.App{
		Name:                      p.invocation.Program,
		Usage:                     "deploy Helm charts: plan, then apply",
		Description:               "Shows what an install, upgrade, rollback or uninstall will do before it does it,\nthen does exactly that. Releases are shared with Helm 3 and 4.\n\nExamples:\n" + indent(appExamples),
		Version:                   version(),
		HideVersion:               true,
		HideHelpCommand:           true,
		Flags:                     p.connection.flags(),
		ErrWriter:                 p.streams.Err,
		Reader:                    p.streams.In,
		ExitErrHandler:            func(*cli.Context, error) {},
		DisableSliceFlagSeparator: true,
		UseShortOptionHandling:    false,
		OnUsageError:              argv.BadValue,
		CustomAppHelpTemplate:     appHelp,
		Action: p.readOnly(func(c *cli.Context) error {
			if c.Args().Present() {
				return lineRules.UnknownCommand(c.App.Commands, c.Args().First(), p.invocation.Program)
			}
			return cli.ShowAppHelp(c)
		}),
		Commands: []*cli.Command{
			p.planCommand(), p.applyCommand(), p.commentCommand(), p.checkCommand(),
			p.installCommand(), p.upgradeCommand(), p.rollbackCommand(), p.uninstallCommand(), p.testCommand(),
			p.listCommand(), p.statusCommand(), p.historyCommand(), p.getCommand(), p.approvalsCommand(),
			p.templateCommand(), p.lintCommand(), p.showCommand(), p.repoCommand(), p.searchCommand(), p.registryCommand(), p.pullCommand(), p.pushCommand(), p.cacheCommand(), p.createCommand(), p.packageCommand(), p.verifyCommand(), p.dependencyCommand(), p.chartCommand(), p.envCommand(), p.versionCommand(), p.optionsCommand(), p.completionCommand(), p.unlockCommand(),
		},
	}
	app.Description = p.inItsName(app.Description)
	p.flags = map[string][]cli.Flag{}
	for _, c := range app.Commands {
		p.flags[c.Name] = c.Flags
		for _, below := range c.Subcommands {
			p.flags[c.Name+" "+below.Name] = below.Flags
		}
		if wanted(c) {
			p.finishCommands("", []*cli.Command{c})
		} else {
			c.Flags, c.Subcommands = nil, nil
		}
	}
	return app
}

// inItsName replaces "kubectl release" in a text with the name that the program was called by.
func (p *program) inItsName(text string) string {
	return strings.ReplaceAll(text, "kubectl release", p.invocation.Program)
}

// finishCommands adds to every command below parent the connection flags, so they can stand
// anywhere on the line, and the Helm flags that the command accepts and ignores.
func (p *program) finishCommands(parent string, commands []*cli.Command) {
	for _, c := range commands {
		path := strings.TrimSpace(parent + " " + c.Name)
		taken := helmFlagsOf(path, c.Flags)
		c.Description = p.inItsName(c.Description)
		c.HideHelpCommand = true
		c.OnUsageError = argv.BadValue
		c.CustomHelpTemplate = p.inItsName(commandHelp)
		c.Before = func(c *cli.Context) error {
			p.invocation.Flags = p.connection.words()
			err := p.take(c, taken)
			if c.Args().Present() || len(c.Command.Subcommands) == 0 { // otherwise, its help may be shown
				c.Command.Flags = acting(c.Command.Flags)
			}
			return err
		}
		if len(c.Subcommands) > 0 {
			p.finishCommands(path, c.Subcommands)
		}
		c.Flags = append(c.Flags, without(p.connection.flags(), c.Flags)...)
		for _, f := range taken {
			c.Flags = append(c.Flags, f.flag())
		}
	}
}

// without removes from flags the aliases that a command uses itself: the -s of template is Helm's
// --show-only, not kubectl's --server, and for commands that take a chart,
// --insecure-skip-tls-verify applies to the chart's server.
func without(flags, own []cli.Flag) []cli.Flag {
	taken := argv.Index(own)
	free := func(aliases []string) []string {
		return slices.DeleteFunc(aliases, func(alias string) bool { return taken[alias] != nil })
	}
	for _, f := range flags {
		switch f := f.(type) {
		case *cli.StringFlag:
			f.Aliases = free(f.Aliases)
		case *cli.BoolFlag:
			f.Aliases = free(f.Aliases)
		}
	}
	return flags
}

const appExamples = `kubectl release plan web ./chart -f prod.yaml        # what would happen
kubectl release apply web ./chart -f prod.yaml       # show it, ask, do it
kubectl release plan web ./chart --out web.plan      # keep it for review
kubectl release apply web.plan                       # do exactly that
kubectl release upgrade --install --atomic web ./chart
kubectl release rollback web`

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ")
}

// describe returns a command's long help: a description and examples.
func describe(text, examples string) string {
	return fmt.Sprintf("%s\n\nExamples:\n%s", text, indent(examples))
}

const appHelp = `{{.Name}} - {{.Usage}}

{{.Description}}

Commands:{{range .VisibleCommands}}
  {{.Name}}{{"\t"}}{{.Usage}}{{end}}

Use "{{.Name}} COMMAND --help" for more information about a command.
`

const commandHelp = `{{.HelpName}}{{if .ArgsUsage}} {{.ArgsUsage}}{{end}} - {{.Usage}}

{{.Description}}
{{if .VisibleCommands}}
Commands:{{range .VisibleCommands}}
  {{.Name}}{{"\t"}}{{.Usage}}{{end}}
{{end}}
Flags:{{range .VisibleFlagCategories}}{{if ne .Name "Connection"}}{{if .Name}}

 {{.Name}}:{{end}}{{range .Flags}}
  {{.}}{{end}}{{end}}{{end}}

  -n, --namespace VALUE{{"\t"}}namespace of the release
  -h, --help{{"\t"}}show this help

"kubectl release options" lists the flags for the connection, which every command takes.
`
