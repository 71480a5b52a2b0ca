package findings

import (
	"fmt"
	"io"

	"github.com/kubectl-release/kubectl-release/plan"
)

// Subject is what was planned.
type Subject struct {
	// Name tells several analyses of one commit apart, such as those of two clusters.
	Name string
	// Digest is that of the saved plan or set, and Effect that of a plan's effect,
	// "sha256:…"; "" for none.
	Digest, Effect string
}

// Formats are the names of all formats.
func Formats() []string {
	return []string{"sarif", "junit", "gitlab", "rdjson", "annotations", "verdict", "dotenv"}
}

// Print prints plans in one of the Formats. Errors are those of w, and that of a format that
// there is not.
func Print(w io.Writer, format string, of Subject, plans ...*plan.Document) error {
	switch format {
	case "sarif":
		return SARIF(w, of, plans...)
	case "junit":
		return JUnit(w, plans...)
	case "gitlab":
		return GitLab(w, plans...)
	case "rdjson":
		return RDJSON(w, plans...)
	case "annotations":
		return Annotations(w, plans...)
	case "verdict":
		_, err := fmt.Fprintln(w, Verdict(plans...))
		return err
	case "dotenv":
		return Dotenv(w, of, plans...)
	}
	return fmt.Errorf("%q is none of the formats %q", format, Formats())
}
