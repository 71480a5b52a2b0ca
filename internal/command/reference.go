package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/invocation"
)

// Reference writes the reference of all commands and flags to w as Markdown, for docs/cli.md. Its
// error is that of w.
func Reference(w io.Writer) error {
	p := &program{invocation: invocation.Invocation{Program: invocation.Plugin}}
	app := p.app()
	var b strings.Builder
	b.WriteString("# Commands\n\nGenerated from the program by `go generate ./...`; a test keeps it fresh.\nEvery command also takes the [connection flags](#connection-flags). Flags may stand\nanywhere on the line.\n")
	for _, c := range app.Commands {
		referCommand(&b, "kubectl release", c)
	}
	b.WriteString("\n## Connection flags\n\n")
	referFlags(&b, p.connection.flags(), false)
	_, err := io.WriteString(w, b.String())
	return err
}

func referCommand(b *strings.Builder, parent string, c *cli.Command) {
	if c.Hidden {
		return
	}
	name := parent + " " + c.Name
	fmt.Fprintf(b, "\n## %s %s\n\n", name, c.ArgsUsage)
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
		left, usage, _ := strings.Cut(flagLine(f), "\t")
		if strings.Contains(left, "--help") {
			continue
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s |\n", left, strings.ReplaceAll(usage, "|", `\|`)))
	}
	if len(rows) > 0 {
		b.WriteString("| flag | meaning |\n|---|---|\n" + strings.Join(rows, ""))
	}
}
