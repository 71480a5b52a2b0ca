// Package plan decides what an operation on a release will do. Build compares
// what is stored, what is live and what the chart says now, and returns a
// Plan: an ordered, printable value that package apply carries out step by
// step.
//
// It is pure: no clock, no network, no files, no randomness. The same input
// yields the same plan, byte for byte. It does not render charts, observe
// clusters or write anything.
package plan

import (
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// Plan is the result of Build, which package apply carries out: the document that people and
// policies read, and the bundle, which is never printed. A saved plan holds both.
type Plan struct {
	Document
	Bundle `json:"-"`
}

// Bundle is the part of a plan that is needed to apply it or to plan again, but that no output
// shows. The steps' bodies are in the Document, where redact.Plan masks them.
type Bundle struct {
	// Record is the revision that apply will store; nil if it stores none.
	Record *release.Revision
	// Newest is the newest stored revision as it was when the plan was made. It is not saved: whoever
	// applies a saved plan plans again.
	Newest Newest
	// Existing are what the plan would otherwise bring: the release's namespace, and CRDs that are as crds/
	// has them. It is not saved either.
	Existing []manifest.ID
	// CRDs are those of the chart's crds/ folders, for planning again from a saved file.
	CRDs []manifest.Object
	// Notes is the chart's rendered NOTES.txt.
	Notes string
	// Secrets are values that templates have read from Secrets in the cluster.
	Secrets [][]byte
	// Undoing says that the plan undoes a failed run, see Input. It is not saved.
	Undoing bool
	// Outage names the first object of which the plan knows too little because its API can't be discovered at the
	// moment, and says why; "" if there is none. It is not saved.
	Outage string
	// Nonce is random, so that the contents of a saved plan, such as a weak password, can't be
	// guessed and checked against its Digest.
	Nonce []byte
}

// Newest identifies the state of the newest revision. The zero value means that there is none.
type Newest struct {
	Version     int
	Status      release.Status
	Description string
	// Modified is when the record was last written, in seconds since 1970.
	Modified int64
}

// NewestOf returns the state of a history's newest revision.
func NewestOf(h release.History) Newest {
	last := h.Last()
	if last == nil {
		return Newest{}
	}
	return Newest{Version: last.Version, Status: last.Info.Status, Description: last.Info.Description, Modified: last.Modified.Unix()}
}

// WithSensitive returns a copy of the plan with more patterns of fields that no output shows.
func (p *Plan) WithSensitive(patterns []string) *Plan {
	out := *p
	out.Options.Sensitive = slices.Concat(p.Options.Sensitive, patterns)
	return &out
}

// WithSecrets returns a copy of the plan with these Secrets instead of its own.
func (p *Plan) WithSecrets(secrets [][]byte) *Plan {
	out := *p
	out.Secrets = secrets
	return &out
}
