// Package findings turns plans into what other tools list line by line: code scanning alerts, test
// reports, annotations in logs and on pull requests. One model, Finding, feeds all formats.
//
// It is pure and masks nothing: pass it the output of redact.Plan. The place of a finding comes
// from the plan (plan.Place).
package findings

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Finding is one thing that a reviewer should know, at one line of one file. Its texts are single
// lines without control characters.
type Finding struct {
	// Rule is a stable identifier: "risk/delete", "blocked/immutable".
	Rule  string
	Level Level
	// Title names the object or whatever else the finding is about, Message says what was found,
	// and Do what to do about it; each may be "".
	Title, Message, Do string
	// Release is "namespace/name" or, if InSet is true, the release's name in its set:
	// "namespace/name@cluster". Step is the ID of the plan's step, "" if there is none.
	Release, Step string
	InSet         bool
	// Foremost marks what has to be read before anything else of its level. SARIF has it in its order only.
	Foremost bool
	// Place is where the finding points. Its File is "" if no file is known.
	Place plan.Place
	// Fingerprint is a SHA-256 in hex that stays the same for the same finding in the next plan.
	Fingerprint string
}

// Level is the severity of a finding. The words are SARIF's.
type Level string

const (
	// Failure is for what blocks the plan.
	Failure Level = "error"
	// Warning is for what loses data or deletes objects.
	Warning Level = "warning"
	// Note is for everything else.
	Note Level = "note"
)

// Levels returns all levels, the most severe first.
func Levels() []Level { return []Level{Failure, Warning, Note} }

// Text returns title, message and what to do on one line. In a set it begins with the release,
// since others in the set may have an object of the same name.
func (f Finding) Text() string {
	if f.InSet {
		return f.Release + ": " + f.ofRelease()
	}
	return f.ofRelease()
}

// ofRelease is Text without the release, for formats that show it elsewhere.
func (f Finding) ofRelease() string {
	text := f.Message
	if f.Title != "" {
		text = f.Title + ": " + text
	}
	if f.Do != "" {
		text += " → " + f.Do
	}
	return text
}

// Of returns the findings of plans, the most severe first.
func Of(plans ...*plan.Document) []Finding {
	var all []Finding
	for _, p := range plans {
		f := newFinder(p)
		f.problems()
		f.steps()
		f.values()
		all = append(all, f.found...)
	}
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(Levels(), a.Level), slices.Index(Levels(), b.Level)), cmp.Compare(a.gravity(), b.gravity()))
	})
	return all
}

// gravity returns a rank within the finding's level, the gravest first: what has to be read before anything else, other
// problems, risks by their severity and what a policy denies by that of its risk, then all else.
func (f Finding) gravity() int {
	kind, about, _ := strings.Cut(f.Rule, "/")
	risk := slices.Index(plan.Risks(), plan.Risk(about))
	switch {
	case f.Foremost:
		return -2
	case kind == "blocked", kind == "warning":
		return -1
	case risk >= 0 && (kind == "risk" || kind == "policy"):
		return risk
	}
	return len(plan.Risks())
}

func riskRule(r plan.Risk) string { return "risk/" + string(r) }

// index matches the index of a list item, which changes when items are added.
var index = regexp.MustCompile(`\[\d+\]`)

// fingerprint hashes what a finding is about, not its texts: these, and values in them, may change.
func fingerprint(p *plan.Document, f Finding, about string) string {
	cluster := cmp.Or(p.Cluster.UID, p.Cluster.Server, p.Cluster.Context)
	sum := sha256.Sum256([]byte(strings.Join([]string{f.Rule, cluster, escape.Line(p.Release.String()), f.Step, index.ReplaceAllString(about, "[]")}, "\n")))
	return hex.EncodeToString(sum[:])
}
