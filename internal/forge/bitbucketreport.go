package forge

import (
	"context"
	"net/http"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/findings"
)

const (
	// mostInReport is how many annotations a report may have, mostInRequest how many of them a request.
	mostInReport, mostInRequest = 1000, 100
	// longestSummary is how long the text of an annotation is kept; the API's reference names no limit.
	longestSummary = 450
)

type bitbucketAnnotation struct {
	ID       string `json:"external_id"`
	Title    string `json:"title"`
	Type     string `json:"annotation_type"`
	Summary  string `json:"summary"`
	Severity string `json:"severity"`
	Path     string `json:"path"`
	Line     int    `json:"line,omitempty"`
}

// report creates or updates the commit's report of a plan, with an annotation for each finding that
// points to a file, the most severe first
// (https://developer.atlassian.com/cloud/bitbucket/rest/api-group-reports/). An annotation with the same
// ID is overwritten, so a request may arrive twice.
func (b *bitbucket) report(ctx context.Context, id string, c Check) error {
	result := "PASSED"
	if c.Blocked {
		result = "FAILED"
	}
	path := b.repository + "/commit/" + b.head + "/reports/" + id
	_, err := b.send(ctx, http.MethodPut, path, map[string]string{
		"title": c.Name, "details": c.Title, "reporter": "kubectl-release", "report_type": "TEST", "result": result, "link": b.page,
	}, nil)
	if err != nil {
		return err
	}
	all := bitbucketAnnotations(c.Findings)
	for chunk := range slices.Chunk(all[:min(len(all), mostInReport)], mostInRequest) {
		if _, err := b.sendRequest(ctx, request{method: http.MethodPost, path: path + "/annotations", body: chunk, harmless: true}); err != nil {
			return err
		}
	}
	return nil
}

func bitbucketAnnotations(found []findings.Finding) []bitbucketAnnotation {
	severities := map[findings.Level]string{findings.Failure: "HIGH", findings.Warning: "MEDIUM", findings.Note: "LOW"}
	var out []bitbucketAnnotation
	for _, f := range found {
		if f.Place.File == "" {
			continue
		}
		text := []rune(f.Text())
		if len(text) > longestSummary {
			text = append(text[:longestSummary-1], '…')
		}
		out = append(out, bitbucketAnnotation{
			ID: f.Fingerprint, Title: f.Rule, Type: "CODE_SMELL", Summary: string(text), Severity: severities[f.Level], Path: f.Place.File, Line: f.Place.Line,
		})
	}
	return out
}
