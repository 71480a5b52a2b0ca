package findings

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Log is a log in SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/), with what GitHub's
// code scanning also requires: rule texts, a location and a fingerprint.
type Log struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    []Run  `json:"runs"`
}

// Run is the only run in a Log.
type Run struct {
	Tool struct {
		Driver driver `json:"driver"`
	} `json:"tool"`
	AutomationDetails struct {
		ID string `json:"id"`
	} `json:"automationDetails"`
	Results []result `json:"results"`
	// Properties sums up the findings for "kubectl release check".
	Properties Properties `json:"properties"`
}

// Properties is our own part of a Run.
type Properties struct {
	Verdict string `json:"verdict"`
	Blocked bool   `json:"blocked"`
	// Digest is the Subject's digest, by which the plan can be approved.
	Digest string `json:"digest,omitempty"`
	// Omitted is the number of findings that are not among the results.
	Omitted int `json:"omitted,omitempty"`
}

type driver struct {
	Name           string     `json:"name"`
	InformationURI string     `json:"informationUri"`
	Rules          []ruleInfo `json:"rules"`
}

type ruleInfo struct {
	ID               string `json:"id"`
	ShortDescription text   `json:"shortDescription"`
	Help             text   `json:"help"`
}

type text struct {
	Text string `json:"text"`
}

type result struct {
	RuleID              string            `json:"ruleId"`
	Level               Level             `json:"level"`
	Message             text              `json:"message"`
	Locations           []location        `json:"locations"`
	PartialFingerprints map[string]string `json:"partialFingerprints"`
	Properties          *about            `json:"properties,omitempty"`
}

// about is our own part of a result.
type about struct {
	// NoFile says that no file is known: the location is the release's name.
	NoFile bool `json:"noFile"`
}

type location struct {
	PhysicalLocation *physical `json:"physicalLocation,omitempty"`
	LogicalLocations []logical `json:"logicalLocations,omitempty"`
}

type physical struct {
	ArtifactLocation artifact `json:"artifactLocation"`
	Region           region   `json:"region"`
}

type artifact struct {
	URI       string `json:"uri"`
	URIBaseID string `json:"uriBaseId,omitempty"`
}

type region struct {
	StartLine int `json:"startLine"`
}

type logical struct {
	FullyQualifiedName string `json:"fullyQualifiedName"`
	Kind               string `json:"kind"`
}

const (
	homepage = "https://github.com/kubectl-release/kubectl-release"
	// mostResults is the number of results of a run that GitHub shows (July 2026: 5,000 of 25,000).
	mostResults = 5000
	// mostBytes is how large a log may be when gzipped: GitHub takes 10 MB
	// (https://docs.github.com/en/code-security/reference/code-scanning/sarif-files/sarif-support).
	mostBytes = 10_000_000
	// fingerprintKey names the method by which fingerprints are computed.
	fingerprintKey = "kubectlReleaseStep/v1"
)

// SARIF prints plans for code scanning: as many results as GitHub takes, the most severe first. Errors
// are those of w.
func SARIF(w io.Writer, of Subject, plans ...*plan.Document) error {
	found := Of(plans...)
	most := mostResults
	for {
		data, err := encode(sarifLog(found, most, of, plans))
		if err != nil {
			return err
		}
		if most == 0 || len(data) <= mostBytes || gzipped(data) <= mostBytes {
			_, err = w.Write(data)
			return err
		}
		most = min(most, len(found)) / 2
	}
}

// gzipped returns how many bytes data has when it is compressed.
func gzipped(data []byte) int {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(data) // a buffer takes everything
	_ = z.Close()
	return b.Len()
}

// sarifLog returns a log with the first of the findings, most of them at most.
func sarifLog(found []Finding, most int, of Subject, plans []*plan.Document) Log {
	log := Log{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: make([]Run, 1)}
	run := &log.Runs[0]
	run.Tool.Driver = driver{Name: toolName, InformationURI: homepage, Rules: rulesOf(found)}
	run.AutomationDetails.ID = toolName + "/" + escape.Line(of.Name) + "/"
	run.Properties = Properties{Verdict: Verdict(plans...), Digest: cmp.Or(of.Digest, of.Effect), Omitted: max(len(found)-most, 0)}
	run.Properties.Blocked = slices.ContainsFunc(found, func(f Finding) bool { return f.Level == Failure })
	run.Results = []result{} // null is not a valid list
	for _, f := range found[:min(len(found), most)] {
		run.Results = append(run.Results, f.sarif())
	}
	return log
}

func rulesOf(found []Finding) []ruleInfo {
	var ids []string
	for _, f := range found {
		ids = append(ids, f.Rule)
	}
	slices.Sort(ids)
	out := []ruleInfo{}
	for _, id := range slices.Compact(ids) {
		about := text{ruleText(id)}
		out = append(out, ruleInfo{ID: id, ShortDescription: about, Help: about})
	}
	return out
}

func (f Finding) sarif() result {
	out := result{
		RuleID: f.Rule, Level: f.Level, Message: text{f.Text()},
		PartialFingerprints: map[string]string{fingerprintKey: f.Fingerprint},
	}
	// GitHub refuses the whole log if a result has no physical location
	// (https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning#location-object).
	at := location{PhysicalLocation: &physical{artifact{URI: pathURI(f.path())}, region{max(f.Place.Line, 1)}}}
	if !strings.HasPrefix(f.path(), "/") {
		at.PhysicalLocation.ArtifactLocation.URIBaseID = "%SRCROOT%"
	}
	if f.Place.File == "" {
		out.Properties = &about{NoFile: true}
	}
	name := f.Release
	if f.Step != "" {
		name += "/" + f.Step
	}
	at.LogicalLocations = []logical{{FullyQualifiedName: escape.Line(name), Kind: "resource"}}
	out.Locations = []location{at}
	return out
}

// writeJSON writes a value as JSON without characters that a terminal would interpret.
func writeJSON(w io.Writer, v any) error {
	data, err := encode(v)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

func encode(v any) ([]byte, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the findings: %w", err)
	}
	return append(escape.JSON(data), '\n'), nil
}
