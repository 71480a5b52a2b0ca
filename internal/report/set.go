package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/plan"
)

// setPage is the plan of a set in words, as page is a plan in words.
type setPage struct {
	title   string
	dangers string
	// each has a row for each release; in rows, equal changes may share one.
	each, rows []setRow
	// digests reports whether some release has a digest.
	digests bool
	// rest counts what has no row.
	rest string
	// matrices are what differs from cluster to cluster; alike are the releases that change alike
	// in all of them. reviews are the users and teams that are asked for one.
	matrices []matrix
	alike    []string
	reviews  []asked
	// unread are the parts of the set's declaration that can't be read.
	unread, warnings []string
}

// setRow is a release in the table.
type setRow struct {
	*releaseset.Planned
	// id is its index in each.
	id                                     int
	name, op, chart, objects, risks, notes string
	// like are the rows of equal changes that this one also stands for.
	like []setRow
}

// mostRows is the number of rows up to which each release has its own: a table of that size can be
// read at a glance.
const mostRows = 20

func newSetPage(d *releaseset.Document) *setPage {
	p := &setPage{title: setTitle(d), dangers: Dangers(d.Summary.Objects.Risks)}
	for i := range d.Releases {
		if r := &d.Releases[i]; r.Plan != nil || r.Error != "" || r.Left || r.Verdict != nil {
			row := newSetRow(r)
			row.id = len(p.each)
			p.each = append(p.each, row)
			p.digests = p.digests || r.Digest != ""
		}
	}
	if p.rows = p.each; len(p.rows) > mostRows {
		p.rows = grouped(p.rows)
	}
	p.matrices, p.alike = matricesOf(d)
	p.reviews = setReviews(p.each)
	if n := d.Summary.Untouched; n > 0 {
		p.rest = isAre(n, "release") + " not touched."
	}
	for _, w := range d.Warnings {
		p.warnings = append(p.warnings, escape.Message(w))
	}
	for _, what := range d.Unread {
		p.unread = append(p.unread, escape.Message(what))
	}
	return p
}

// setTitle returns text such as "Plan of 6 releases: 1 blocked, 3 change, 2 stay as they are".
func setTitle(d *releaseset.Document) string {
	s := d.Summary
	var parts []string
	add := func(n int, one, many string) {
		if n > 0 {
			parts = append(parts, Count(n, one, many))
		}
	}
	add(len(d.Unread), "can't be read", "can't be read")
	add(s.Failed-len(d.Unread), "can't be planned", "can't be planned")
	add(s.Blocked, "blocked", "blocked")
	changing, unsure := 0, 0
	for _, r := range d.Releases {
		switch {
		case r.Plan == nil || r.Blocked():
		case r.Plan.Effect() != plan.EffectNone:
			changing++
		case r.Unsure():
			unsure++
		}
	}
	add(changing, "changes", "change")
	add(unsure, "may change", "may change")
	add(s.Left, leftTheSet, leftTheSet)
	add(s.Idle, "not released now", "not released now")
	add(s.Planned-s.Blocked-changing-unsure, "stays as it is", "stay as they are")
	if len(parts) == 0 {
		parts = []string{"nothing is touched"}
	}
	of := "Plan of " + Count(len(d.Releases), "release", "releases")
	if selection := d.Selection(); selection != "" {
		of += " (" + escape.Line(selection) + ")"
	}
	return of + ": " + strings.Join(parts, ", ")
}

func newSetRow(r *releaseset.Planned) setRow {
	row := setRow{Planned: r, name: r.Release.String()}
	if r.Cluster != "" {
		row.name += "@" + r.Cluster
	}
	row.name = escape.Line(row.name)
	switch {
	case r.Error != "":
		row.op, row.notes = "can't be planned", escape.Message(r.Error)
		row.chart = escape.Line(r.Chart.String())
		return row
	case r.Plan == nil && r.Verdict != nil:
		notes := r.Verdict.Notes
		if r.Absent {
			notes = slices.Concat(notes, []string{absent})
		}
		row.op, row.notes = r.Verdict.Text(), escape.Message(strings.Join(notes, "; "))
		row.chart = escape.Line(r.Chart.String())
		return row
	case r.Plan == nil:
		if row.op, row.notes = leftTheSet, "it is not uninstalled"; r.Absent {
			row.notes = absent
		}
		return row
	}
	row.op, row.chart = operationText(r.Plan), chartFact(r.Plan.ChartFrom, r.Plan.ChartTo)
	if r.Plan.Operation == plan.Uninstall {
		row.chart = chartFact(r.Plan.ChartFrom, plan.ChartRef{})
	}
	row.objects, row.risks = objectsText(r.Plan.Summary), strings.TrimPrefix(Dangers(r.Plan.Summary.Risks), "Risks: ")
	row.notes = strings.Join(rowNotes(r), ", ")
	if r.Verdict != nil {
		row.op = actedText(r)
		row.notes = strings.Join(append(rowNotes(r), escape.Message(strings.Join(r.Verdict.Notes, "; "))), ", ")
	}
	return row
}

// leftTheSet is said of a release that is not declared any more, and not uninstalled.
const leftTheSet = "left the set"

// absent is said of a release that would be uninstalled if it existed.
const absent = "the release does not exist"

// actedText is the verdict's text with the revisions of an upgrade that is planned in a cluster, and with
// "blocked" before a plan that is blocked.
func actedText(r *releaseset.Planned) string {
	text := r.Verdict.Text()
	if r.Plan.Against == nil && r.Plan.Operation == plan.Upgrade && r.Verdict.Action == string(plan.Upgrade) {
		text = fmt.Sprintf("upgrade %d → %d", r.Plan.FromRevision, r.Plan.ToRevision) + strings.TrimPrefix(text, r.Verdict.Action)
	}
	if r.Plan.Blocked() {
		return "blocked " + text
	}
	return text
}

// operationText returns the operation, "upgrade 7 → 8", with "blocked" before it if the plan is blocked.
func operationText(p *plan.Document) string {
	text := string(p.Operation)
	if p.Against == nil && p.Operation == plan.Upgrade {
		text = fmt.Sprintf("upgrade %d → %d", p.FromRevision, p.ToRevision)
	}
	switch {
	case p.Blocked():
		return "blocked " + text
	case p.Effect() == plan.EffectNone:
		return "as it is"
	}
	return text
}

// objectsText returns text such as "+1 ~2 -1 ▶2"; a recreated object is ±.
func objectsText(s plan.Summary) string {
	var parts []string
	for _, part := range []struct {
		sign string
		n    int
	}{
		{"+", s.Create}, {"~", s.Patch - s.LabelsOnly + s.Replace + s.Adopt}, {"±", s.Recreate}, {"-", s.Delete}, {"=", s.Keep}, {"▶", s.Hooks},
	} {
		if part.n > 0 {
			parts = append(parts, part.sign+strconv.Itoa(part.n))
		}
	}
	if s.LabelsOnly > 0 {
		parts = append(parts, Count(s.LabelsOnly, "label", "labels"))
	}
	if len(parts) == 0 {
		return "–"
	}
	return strings.Join(parts, " ")
}

func rowNotes(r *releaseset.Planned) []string {
	out := gravest(r.Plan)
	if n := r.Plan.Summary.Drifted; n > 0 {
		out = append(out, Count(n, "object", "objects")+" drifted")
	}
	if r.Deferred != "" {
		out = append(out, "estimated: "+escape.Line(r.Deferred))
	} else if r.Plan.Against == nil && estimated(r.Plan) {
		out = append(out, "estimated")
	}
	return out
}

// gravest returns the first of the blocking problems and the first of those that have to be read before
// anything else.
func gravest(p *plan.Document) (out []string) {
	const limit = 120
	for _, is := range []func(plan.Problem) bool{
		func(p plan.Problem) bool { return p.Blocking },
		func(p plan.Problem) bool { return p.Foremost && !p.Blocking },
	} {
		if i := slices.IndexFunc(p.Problems, is); i >= 0 {
			out = append(out, cut(escape.Message(p.Problems[i].Brief()), limit))
		}
	}
	return out
}

// estimated reports whether some step's outcome is only estimated.
func estimated(p *plan.Document) bool {
	found := false
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		found = found || s.Fidelity == plan.FidelityEstimated && s.Op != plan.OpNone
	})
	return found
}

// shortDigest returns the digest's first hex digits; "" for a row of several releases, whose digests
// differ.
func (r setRow) shortDigest() string {
	if len(r.like) > 0 {
		return ""
	}
	const short = 12
	digest := strings.TrimPrefix(r.Digest, "sha256:")
	return digest[:min(short, len(digest))]
}

// isAre returns "1 release is" or "2 releases are".
func isAre(n int, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return fmt.Sprintf("%d %ss are", n, what)
}
