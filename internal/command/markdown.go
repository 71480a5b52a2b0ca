package command

import (
	"bytes"
	"fmt"
	"io"

	"github.com/kubectl-release/kubectl-release/internal/outputfile"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/plan"
)

// smallestComment is the smallest size in bytes with room for the title, the counts and a note
// about what is missing.
const smallestComment = 1000

// jobSummary returns the Markdown options for a job summary, which may be up to 1 MiB on GitHub
// (https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands#step-isolation-and-limits).
func (o *showFlags) jobSummary() report.MarkdownOptions {
	const room = 1_000_000
	return report.MarkdownOptions{Budget: room, Marker: o.marker.value}
}

// checkMarkdown refuses flags for Markdown that would have no effect.
func (o *showFlags) checkMarkdown() error {
	if !o.printsMarkdown() {
		switch {
		case o.maxBytes.given:
			return usage("--max-bytes needs -o markdown")
		case o.spill.given:
			return usage("--spill needs -o markdown")
		case o.marker.given:
			return usage("--marker needs -o markdown")
		}
		return nil
	}
	if n := o.maxBytes.value; n < smallestComment {
		return usage("--max-bytes=%d: must be at least %d", n, smallestComment)
	}
	return nil
}

// markdown prints a comment, and writes what does not fit to a file.
func (o *showFlags) markdown(w io.Writer, made *plan.Plan) error {
	file := o.spill.value
	options := report.MarkdownOptions{Budget: o.maxBytes.value, Marker: o.marker.value, RestName: file}
	if file == "" {
		return report.Markdown(w, &made.Document, options)
	}
	var comment, rest bytes.Buffer
	options.Rest = &rest
	if err := report.Markdown(&comment, &made.Document, options); err != nil {
		return err
	}
	if err := outputfile.Write(file, rest.Bytes(), 0o600); err != nil {
		return fmt.Errorf("--spill: %w", err)
	}
	_, err := w.Write(comment.Bytes())
	return err
}
