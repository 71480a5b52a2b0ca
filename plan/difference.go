package plan

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kubectl-release/kubectl-release/internal/credential"
	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/managedfields"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// Difference is one reason why a reviewed plan no longer holds.
type Difference struct {
	// Object is the object that differs; empty for the whole release.
	Object manifest.ID
	What   string
	// Changes are the fields of the object that were changed since the plan was made and that
	// matter to it; their Detail says who wrote them last.
	Changes []Change
}

// maxDifferences is the number of changed fields shown per object.
const maxDifferences = 3

// String returns, for example, "Deployment/web was changed since the plan was made (kubectl 40s
// ago): spec.replicas 1 → 3".
func (d Difference) String() string {
	switch {
	case d.Object.Kind == "":
		return d.What
	case len(d.Changes) == 0:
		return d.Object.String() + ": " + d.What
	}
	var fields []string
	for _, c := range d.Changes[:min(maxDifferences, len(d.Changes))] {
		from, to := short(c.From), short(c.To)
		if c.Sensitive || from == "" || to == "" {
			fields = append(fields, c.Path+" changed")
		} else {
			fields = append(fields, c.Path+" "+from+" → "+to)
		}
	}
	if more := len(d.Changes) - maxDifferences; more > 0 {
		fields = append(fields, fmt.Sprintf("and %d more", more))
	}
	who := ""
	if by := d.Changes[0].Detail; by != "" {
		who = " (" + by + ")"
	}
	return d.Object.String() + " " + d.What + who + ": " + strings.Join(fields, ", ")
}

// short formats a value in a few words; "" if it takes too many. It is not cut: a mask would not find a
// secret in part of it.
func short(v any) string {
	if v == nil {
		return "nothing"
	}
	out := fmt.Sprint(v)
	switch v.(type) {
	case map[string]any, []any:
		out = text(v)
		out = out[1 : len(out)-1]
	}
	const most = 60
	if utf8.RuneCountInString(out) > most {
		return ""
	}
	return cmp.Or(out, `""`)
}

// changedSince returns the difference for an object that the reviewed plan was to change and that
// has been changed since. It covers only the fields that one of the two plans changes.
func changedSince(reviewed *Plan, was, now *Step) Difference {
	d := Difference{Object: was.Object, What: fmt.Sprintf("it has changed since, so %s now means something else", was.Op)}
	if was.Before == nil || now.Before == nil {
		return d
	}
	var about []fielddiff.Change
	for _, c := range append(append([]Change{}, was.Changes...), now.Changes...) {
		about = append(about, fielddiff.Change{Path: c.Path})
	}
	concerned := pathsOf(about)
	for _, c := range fielddiff.Compare(was.Before.Object, now.Before.Object) {
		if concerned.touch(c.Path) {
			named := credential.InPath(jsontree.SplitPath(c.Path)) // no mask knows a value that neither plan sends
			sensitive := named || secretField(was.Object, c.Path) || len(reviewed.Options.Sensitive) > 0
			d.Changes = append(d.Changes, Change{Path: c.Path, From: c.From, To: c.To, Sensitive: sensitive})
		}
	}
	if len(d.Changes) > 0 {
		d.What = "was changed since the plan was made"
	}
	return d
}

// By returns the difference with the Detail of its changes filled in: who wrote each field last,
// according to the object's managedFields, and how long ago.
func (d Difference) By(live Observation, now time.Time) Difference {
	changes := append([]Change{}, d.Changes...)
	for i := range changes {
		entry := managedfields.LastWriter(live.Managers, live.content(), changes[i].Path)
		c := &changes[i]
		c.Manager, c.At = entry.Manager, writtenAt(entry)
		c.Detail = written(c.Manager, c.At, now)
	}
	d.Changes = changes
	return d
}
