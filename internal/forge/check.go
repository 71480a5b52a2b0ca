package forge

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/kubectl-release/kubectl-release/internal/findings"
)

var errNoPullRequest = errors.New("this job does not belong to a pull request: name one with --pr")

// Check is the outcome of a plan, to be reported on a commit.
type Check struct {
	// Name tells the checks of a commit apart. Title is a line of at most 140 characters.
	Name, Title string
	Blocked     bool
	// Digest is what the plan can be approved by, "" if it has none.
	Digest string
	// Text is Markdown, which only GitHub shows; forges that have only statuses also ignore the Findings.
	Text     string
	Findings []findings.Finding
}

// state returns "success", or failed, the forge's word for the opposite.
func (c Check) state(failed string) string {
	if c.Blocked {
		return failed
	}
	return "success"
}

const (
	// mostAnnotations is how many annotations GitHub accepts in one request.
	mostAnnotations = 50
	// longestText is how long the summary of a check run may be.
	longestText = 65535
)

type checkAnnotation struct {
	Path    string `json:"path"`
	Start   int    `json:"start_line"`
	End     int    `json:"end_line"`
	Level   string `json:"annotation_level"`
	Title   string `json:"title"`
	Message string `json:"message"`
}

type checkOutput struct {
	Title       string            `json:"title"`
	Summary     string            `json:"summary"`
	Annotations []checkAnnotation `json:"annotations,omitempty"`
}

// Check creates a check run (https://docs.github.com/rest/checks/runs). Risks do not make it
// neutral: a required check would then pass without anybody having looked at it.
func (g *github) Check(ctx context.Context, c Check) (string, error) {
	output := checkOutput{Title: c.Title, Summary: shorten(c.Text, longestText)}
	chunks := slices.Collect(slices.Chunk(annotations(c.Findings), mostAnnotations))
	if len(chunks) > 0 {
		output.Annotations = chunks[0]
	}
	var made struct {
		ID  int64  `json:"id"`
		URL string `json:"html_url"`
	}
	run := map[string]any{"name": c.Name, "head_sha": g.head, "status": "completed", "conclusion": c.state("failure"), "output": output}
	if c.Digest != "" {
		run["external_id"] = c.Digest
	}
	_, err := g.send(ctx, http.MethodPost, g.path("/check-runs"), run, &made)
	if err != nil {
		return "", err
	}
	for _, chunk := range chunks[min(1, len(chunks)):] {
		output.Annotations = chunk
		// An update adds its annotations to those that are there, so it must not arrive twice
		// (https://docs.github.com/rest/checks/runs#update-a-check-run).
		update := request{method: http.MethodPatch, path: g.path("/check-runs/" + strconv.FormatInt(made.ID, 10)), body: map[string]any{"output": output}}
		if _, err := g.sendRequest(ctx, update); err != nil {
			return "", err
		}
	}
	return made.URL, nil
}

// annotations returns one for each finding that points to a file.
func annotations(found []findings.Finding) []checkAnnotation {
	levels := map[findings.Level]string{findings.Failure: "failure", findings.Warning: "warning", findings.Note: "notice"}
	var out []checkAnnotation
	for _, f := range found {
		if f.Place.File == "" {
			continue
		}
		line := max(f.Place.Line, 1)
		out = append(out, checkAnnotation{Path: f.Place.File, Start: line, End: line, Level: levels[f.Level], Title: f.Rule, Message: f.Text()})
	}
	return out
}
