package findings

import (
	"fmt"
	"io"

	"github.com/kubectl-release/kubectl-release/plan"
)

// Formats are the names of all formats.
func Formats() []string {
	return []string{"sarif", "junit", "gitlab", "rdjson", "annotations", "verdict"}
}

// Print prints plans in one of the Formats. set names what was planned, in formats that tell
// several analyses apart. Errors are those of w, and that of a format that there is not.
func Print(w io.Writer, format, set string, plans ...*plan.Document) error {
	switch format {
	case "sarif":
		return SARIF(w, set, plans...)
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
	}
	return fmt.Errorf("%q is none of the formats %q", format, Formats())
}
