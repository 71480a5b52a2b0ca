package findings

import (
	"cmp"
	"io"
	"net/url"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/plan"
)

const toolName = "kubectl-release"

// GitLab prints plans as a code quality report, which GitLab shows in merge requests
// (https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format).
func GitLab(w io.Writer, plans ...*plan.Document) error {
	type lines struct {
		Begin int `json:"begin"`
	}
	type location struct {
		Path  string `json:"path"`
		Lines lines  `json:"lines"`
	}
	type issue struct {
		Description string   `json:"description"`
		CheckName   string   `json:"check_name"`
		Fingerprint string   `json:"fingerprint"`
		Severity    string   `json:"severity"`
		Location    location `json:"location"`
	}
	severities := map[Level]string{Failure: "blocker", Warning: "major", Note: "info"}
	issues := []issue{}
	for _, f := range Of(plans...) {
		i := issue{f.Text(), f.Rule, f.Fingerprint, severities[f.Level], location{f.path(), lines{max(f.Place.Line, 1)}}}
		if f.Rule == riskRule(plan.RiskData) {
			i.Severity = "critical"
		}
		issues = append(issues, i)
	}
	return writeJSON(w, issues)
}

// RDJSON prints plans for reviewdog, which comments on all kinds of forges
// (https://github.com/reviewdog/reviewdog/tree/v0.21.2/proto/rdf).
func RDJSON(w io.Writer, plans ...*plan.Document) error {
	type position struct {
		Line int `json:"line"`
	}
	type span struct {
		Start position `json:"start"`
	}
	type location struct {
		Path  string `json:"path"`
		Range *span  `json:"range,omitempty"`
	}
	type code struct {
		Value string `json:"value"`
	}
	type diagnostic struct {
		Message  string   `json:"message"`
		Location location `json:"location"`
		Severity string   `json:"severity"`
		Code     code     `json:"code"`
	}
	type source struct {
		Name string `json:"name"`
		URL  string `json:"url"`
	}
	severities := map[Level]string{Failure: "ERROR", Warning: "WARNING", Note: "INFO"}
	out := struct {
		Source      source       `json:"source"`
		Diagnostics []diagnostic `json:"diagnostics"`
	}{source{toolName, homepage}, []diagnostic{}}
	for _, f := range Of(plans...) {
		at := location{Path: f.path()}
		if f.Place.Line > 0 {
			at.Range = &span{position{f.Place.Line}}
		}
		out.Diagnostics = append(out.Diagnostics, diagnostic{f.Text(), at, severities[f.Level], code{f.Rule}})
	}
	return writeJSON(w, out)
}

// path returns the file that a finding points to, for formats that require one: if no file is
// known, it is the release's name.
func (f Finding) path() string { return escape.Line(cmp.Or(f.Place.File, f.Release)) }

// pathURI returns a path as a relative reference (RFC 3986).
func pathURI(path string) string { return (&url.URL{Path: path}).String() }
