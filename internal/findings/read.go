package findings

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/kubectl-release/kubectl-release/plan"
)

// Summary is the content of a log that SARIF has printed.
type Summary struct {
	// Set is the name of what was planned, such as "shop/web".
	Set string
	Properties
	// Findings have no separate Title and Do: Message contains both.
	Findings []Finding
}

// ReadSARIF parses what SARIF has printed. It returns an error if data is something else.
func ReadSARIF(data []byte) (Summary, error) {
	var log Log
	if err := json.Unmarshal(data, &log); err != nil {
		return Summary{}, fmt.Errorf("read it as SARIF: %w", err)
	}
	if len(log.Runs) != 1 || log.Runs[0].Tool.Driver.Name != toolName {
		return Summary{}, errors.New("it is not what plan -o sarif prints")
	}
	run := log.Runs[0]
	out := Summary{
		Set:        strings.Trim(strings.TrimPrefix(run.AutomationDetails.ID, toolName), "/"),
		Properties: run.Properties,
	}
	for _, r := range run.Results {
		f := Finding{Rule: r.RuleID, Level: r.Level, Message: r.Message.Text, Fingerprint: r.PartialFingerprints[fingerprintKey]}
		noFile := r.Properties != nil && r.Properties.NoFile
		if len(r.Locations) > 0 && r.Locations[0].PhysicalLocation != nil && !noFile {
			at := r.Locations[0].PhysicalLocation
			path, err := url.PathUnescape(at.ArtifactLocation.URI)
			if err != nil {
				return Summary{}, fmt.Errorf("read it as SARIF: %w", err)
			}
			f.Place = plan.Place{File: path, Line: at.Region.StartLine}
		}
		out.Findings = append(out.Findings, f)
	}
	return out, nil
}
