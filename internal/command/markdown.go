package command

import (
	"bytes"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/outputfile"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/plan"
)

// smallestComment has room for the title, the counts and what is missing.
const smallestComment = 1000

// markdownFlags are for comments on pull requests.
func markdownFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "max-bytes", Usage: "in Markdown: most bytes of the comment", Value: report.DefaultBudget, Category: planCategory},
		&cli.StringFlag{Name: "spill", Usage: "in Markdown: write to `FILE` what the comment has no room for", Category: planCategory},
		&cli.StringFlag{Name: "marker", Usage: "in Markdown: a `NAME` for the comment's marker, to tell those of several clusters apart", Category: planCategory},
	}
}

// checkMarkdown refuses what would be passed over in silence.
func checkMarkdown(c *cli.Context) error {
	if o := c.String("output"); o != "markdown" && o != "md" {
		for _, flag := range []string{"max-bytes", "spill", "marker"} {
			if c.IsSet(flag) {
				return usage("--%s goes with -o markdown", flag)
			}
		}
		return nil
	}
	if n := c.Int("max-bytes"); n < smallestComment {
		return usage("--max-bytes=%d: at least %d are needed", n, smallestComment)
	}
	return nil
}

// markdown prints a comment, and writes what it has no room for to a file.
func (p *program) markdown(c *cli.Context, w io.Writer, made *plan.Plan) error {
	o := report.MarkdownOptions{Budget: c.Int("max-bytes"), Marker: c.String("marker"), RestName: c.String("spill")}
	file := c.String("spill")
	if file == "" {
		return report.Markdown(w, &made.Document, o)
	}
	var comment, rest bytes.Buffer
	o.Rest = &rest
	if err := report.Markdown(&comment, &made.Document, o); err != nil {
		return err
	}
	if err := outputfile.Write(file, rest.Bytes(), 0o600); err != nil {
		return fmt.Errorf("--spill: %w", err)
	}
	_, err := w.Write(comment.Bytes())
	return err
}
