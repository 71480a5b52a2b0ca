package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/helptext"
	"github.com/kubectl-release/kubectl-release/internal/invocation"
	"github.com/kubectl-release/kubectl-release/internal/terminal"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// Reference writes the reference of all commands and flags to w as Markdown, for docs/cli.md. Its
// error is that of w.
func Reference(w io.Writer) error {
	p := &program{invocation: invocation.Invocation{Program: invocation.Plugin}}
	app := p.app()
	var b strings.Builder
	b.WriteString("# Commands\n\nGenerated from the program by `go generate ./...`; a test keeps it fresh.\nEvery command also takes the [connection flags](#connection-flags). Flags may stand\nanywhere on the line. Defaults of some come from [environment variables](#environment-variables).\n")
	for _, c := range app.Commands {
		referCommand(&b, "kubectl release", c)
	}
	b.WriteString("\n## Connection flags\n\n")
	referFlags(&b, p.connection.flags(), false)
	referEnvironment(&b, app.Commands, p.connection.flags())
	_, err := io.WriteString(w, b.String())
	return err
}

func referCommand(b *strings.Builder, parent string, c *cli.Command) {
	if c.Hidden {
		return
	}
	name := parent + " " + c.Name
	fmt.Fprintf(b, "\n## %s\n\n", strings.TrimSpace(name+" "+c.ArgsUsage))
	if len(c.Aliases) > 0 {
		fmt.Fprintf(b, "Also: %s.\n\n", strings.Join(c.Aliases, ", "))
	}
	text, examples, _ := strings.Cut(c.Description, "\n\nExamples:\n")
	fmt.Fprintf(b, "%s\n", text)
	if examples != "" {
		fmt.Fprintf(b, "\n```sh\n%s\n```\n", strings.ReplaceAll(strings.TrimPrefix(examples, "  "), "\n  ", "\n"))
	}
	if len(c.Flags) > 0 {
		b.WriteString("\n")
		referFlags(b, c.Flags, true)
	}
	for _, sub := range c.Subcommands {
		referCommand(b, name, sub)
	}
}

// referFlags writes a table of flags. If own is set, it omits the connection flags, which have a
// section of their own.
func referFlags(b *strings.Builder, flags []cli.Flag, own bool) {
	var rows []string
	for _, f := range flags {
		if c, ok := f.(cli.CategorizableFlag); own && ok && c.GetCategory() == connectionCategory {
			continue
		}
		if v, ok := f.(cli.VisibleFlag); ok && !v.IsVisible() {
			continue
		}
		left, usage, _ := strings.Cut(helptext.FlagLine(f), "\t")
		if strings.Contains(left, "--help") {
			continue
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s |\n", left, strings.ReplaceAll(usage, "|", `\|`)))
	}
	if len(rows) > 0 {
		b.WriteString("| flag | meaning |\n|---|---|\n" + strings.Join(rows, ""))
	}
}

// referEnvironment writes a table of the environment variables that are read: those from which
// flags take their defaults, and those that are not about one flag.
func referEnvironment(b *strings.Builder, commands []*cli.Command, connection []cli.Flag) {
	rows := map[string]string{
		"HELM_BURST_LIMIT":         "default of `--burst-limit`",
		"HELM_KUBEASGROUPS":        "default of `--as-group`: groups, separated by commas",
		"HELM_DRIVER":              "where release records are: `secret` (the default), `configmap`, `sql`, or `memory`, in which they end with the command",
		releasestore.SQLConnection: "with `HELM_DRIVER=sql`: the PostgreSQL database, as `postgresql://USER:PASSWORD@HOST:PORT/DATABASE` or `host=… dbname=… user=… password=…`",
		"PGHOST":                   "with `PGDATABASE`, `PGUSER`, `PGPASSWORD`, `PGSSLMODE` and PostgreSQL's other variables: what the connection string does not say",
		"KUBECONFIG":               "the kubeconfig, as for kubectl",
		"KUBECACHEDIR":             "default of `--cache-dir`",
		"HTTPS_PROXY":              "the proxy for `https` URLs and the API server, as `HTTP_PROXY` for `http` and `NO_PROXY` for what is asked directly; `proxy-url` in the kubeconfig takes precedence",
		"NO_COLOR":                 "no colours, unless `--color=always`",
		"COLUMNS":                  "the width of text; the default is the terminal's",
		"XDG_CACHE_HOME":           "its `helm` is the folder for caches, unless `HELM_CACHE_HOME` names one",
		"XDG_CONFIG_HOME":          "its `helm` is the folder for configuration, unless `HELM_CONFIG_HOME` names one",
		"XDG_DATA_HOME":            "its `helm` is the folder for plugins and starters, unless `HELM_DATA_HOME` names one",
		"XDG_RUNTIME_DIR":          "its `containers/auth.json` has Podman's logins to registries, unless `REGISTRY_AUTH_FILE` names a file",
		"REGISTRY_AUTH_FILE":       "the file of Podman's logins to registries",
		"DOCKER_CONFIG":            "the folder with Docker's `config.json`, and its logins to registries; the default is `~/.docker`",
		"GNUPGHOME":                "the folder with the default keyring of `--verify`; the default is `~/.gnupg`",
	}
	add := func(flags []cli.Flag) {
		for _, f := range flags {
			if doc, ok := f.(cli.DocGenerationFlag); ok {
				for _, variable := range doc.GetEnvVars() {
					rows[variable] = fmt.Sprintf("default of `--%s`", f.Names()[0])
				}
			}
		}
	}
	add(connection)
	var visit func(commands []*cli.Command)
	visit = func(commands []*cli.Command) {
		for _, c := range commands {
			add(c.Flags)
			visit(c.Subcommands)
		}
	}
	visit(commands)
	b.WriteString("\n## Environment variables\n\nA number or a truth value that can't be read counts as not set. Those for files and folders are in\n[sources.md](sources.md#files); `kubectl release env` prints what is in effect.\n\n| variable | what it says |\n|---|---|\n")
	for _, variable := range slices.Sorted(maps.Keys(rows)) {
		fmt.Fprintf(b, "| `%s` | %s |\n", variable, rows[variable])
	}
}

// optionsCommand is like kubectl options: listing these flags for each command would make the help
// long without saying more.
func (p *program) optionsCommand() *cli.Command {
	return &cli.Command{
		Name: "options", Usage: "list the connection flags, which every command takes",
		Description: describe("Lists the flags for the connection to the cluster. They are kubectl's, plus Helm's names for them.", "kubectl release options"),
		Action: p.readOnly(takes(0, 0, func(context.Context, []string) error {
			var text bytes.Buffer
			table := tabwriter.NewWriter(&text, 0, 8, 2, ' ', 0)
			for _, f := range p.connection.flags() {
				fmt.Fprintf(table, "  %s\n", helptext.FlagLine(f))
			}
			if err := table.Flush(); err != nil {
				return err
			}
			return p.printHelp(text.String())
		})),
	}
}

// printHelp prints help as wide as the terminal. Where there is none, lines stay whole, for grep.
func (p *program) printHelp(text string) error {
	if columns := terminal.Width(p.raw.Out, nil); columns > 0 {
		text = helptext.Fit(text, columns)
	}
	_, err := io.WriteString(p.streams.Out, text)
	return err
}
