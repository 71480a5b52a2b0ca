package findings

import (
	"fmt"
	"io"

	"github.com/kubectl-release/kubectl-release/plan"
)

// Subject identifies what was planned.
type Subject struct {
	// Name distinguishes several analyses of one commit, such as those for two clusters.
	Name string
	// Digest is the digest of the saved plan or set, and Effect the digest of a plan's effect, both
	// "sha256:…", or "" if there is none.
	Digest, Effect string
}

// Formats returns the names of all formats.
func Formats() []string {
	return []string{"sarif", "junit", "gitlab", "rdjson", "annotations", "verdict", "dotenv"}
}

// Print prints plans in one of the Formats. It returns the errors of w, and an error for an unknown
// format.
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
	return fmt.Errorf("%q is not one of the formats %q", format, Formats())
}
