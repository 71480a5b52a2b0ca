// Package findings makes of plans what other tools list line by line: code scanning, test
// reports, annotations in logs and on pull requests. One model, Finding, feeds all formats.
//
// It is pure, and it masks nothing: give it what redact.Plan has made. Where a finding
// points is said by the plan (plan.Place).
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

// Finding is one thing that a reviewer should know, at one line of one file. Its texts are
// on one line and hold no control characters.
type Finding struct {
	// Rule is an identifier that stays: "risk/delete", "blocked/immutable".
	Rule  string
	Level Level
	// Title names the object, or what else it is about; Message says what is found, Do what
	// to do about it, "" when there is nothing to say.
	Title, Message, Do string
	// Release is "namespace/name", with InSet what it is called in its set, "namespace/name@cluster".
	// Step is the ID of the plan's step; "" when it is of none.
	Release, Step string
	InSet         bool
	// Place is where it points. File is "" when no file is known.
	Place plan.Place
	// Fingerprint is a SHA-256 in hex that the same finding of the next plan has, too.
	Fingerprint string
}

// Level is how grave a finding is. The words are SARIF's.
type Level string

const (
	// Failure is what blocks the plan.
	Failure Level = "error"
	// Warning is what loses data or deletes objects.
	Warning Level = "warning"
	// Note is everything else.
	Note Level = "note"
)

// Levels are all of them, the gravest first.
func Levels() []Level { return []Level{Failure, Warning, Note} }

// Text is title, message and what to do, on one line, in a set after the release: others of
// the set may have an object of that name.
func (f Finding) Text() string {
	if f.InSet {
		return f.Release + ": " + f.ofRelease()
	}
	return f.ofRelease()
}

// ofRelease is Text where the release is told beside it.
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

// Of are the findings of plans, the gravest first.
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
		return cmp.Compare(slices.Index(Levels(), a.Level), slices.Index(Levels(), b.Level))
	})
	return all
}

// index matches the number of a list's item, which moves when another item comes.
var index = regexp.MustCompile(`\[\d+\]`)

// fingerprint is of what a finding is about: texts, and values in them, may change.
func fingerprint(p *plan.Document, f Finding, about string) string {
	cluster := cmp.Or(p.Cluster.UID, p.Cluster.Server, p.Cluster.Context)
	sum := sha256.Sum256([]byte(strings.Join([]string{f.Rule, cluster, escape.Line(p.Release.String()), f.Step, index.ReplaceAllString(about, "[]")}, "\n")))
	return hex.EncodeToString(sum[:])
}
