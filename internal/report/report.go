// Package report prints a plan for people and machines: as text, JSON, Markdown, a graph and HTML.
//
// It decides nothing and prints what the plan says. It opens no files, knows of no terminal, and
// prints secrets when it is given a plan with secrets in it: call redact.Plan first. The same plan
// gives the same bytes.
package report

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/plan"
)

// page is a plan in words. All formats but JSON lay out the same page. Its texts contain no control
// characters.
type page struct {
	title string
	facts []string
	// foremost is shown before everything else.
	foremost []notice
	notes    []note
	// dangers counts the risks, "" when there are none.
	dangers string
	// verdict is the line with the counts, or says that there is nothing to do.
	verdict string
	// impact is the plan's impact, shown below the counts.
	impact []note
	// idle reports whether no object changes and no hook has to run.
	idle     bool
	blocking []notice
	warnings []notice
	risks    []notice
	// hooks are the hooks that run; reviews are the users and teams that are asked for a review.
	hooks    timeline
	reviews  []asked
	sections []section
	// ending is what happens on failure, nil when there is nothing to say.
	ending *ending
	// footnote is shown at the end, in small print.
	footnote string
}

// note is a line of the header: "values  replicas 2 → 3, …".
type note struct {
	label string
	items []string
	// lines reports whether each item begins a line.
	lines bool
}

// notice is a problem or a risk.
type notice struct {
	name string
	text string
	// do is advice on what to do about it.
	do string
}

// section is a stage with something to print.
type section struct {
	name    string
	entries []entry
	// text follows the entries, or stands alone: "revision 8 deployed".
	text string
	// folded lists what many objects share: changes of labels, and migrations of ownership.
	folded []string
	// hidden says what was left out.
	hidden string
}

// entry is a step.
type entry struct {
	op     plan.Op
	id     string
	kind   string
	name   string
	detail string
	rows   []row
	// hiddenRows is how many rows were left out.
	hiddenRows int
	// objects is how many objects the entry stands for; 0 means the one that it names.
	objects int
	// creates is the object that is to be shown in full, see body; nil if none is.
	creates *unstructured.Unstructured
}

// row is a change of a field.
type row struct {
	change plan.Change
	path   string
	cause  string
	// like is how many equal changes the row also stands for.
	like int
	diff []diffLine
	// tally says how much of a text changes.
	tally string
	// hiddenLines is how many lines of the diff were left out.
	hiddenLines int
	// line is how many characters of a line are shown, see view.
	line int
}

// view selects what of a plan is on a page.
type view struct {
	// full unfolds everything, bodies prints what is created as YAML.
	full, bodies bool

	only    []string
	context int
	// rows, lines and entries limit what is shown of an object, a text and a stage, and line the
	// characters of a text's line; 0 means no limit.
	rows, lines, entries, line int
	// joins limits the changes of objects that are joined; 0 means no limit.
	joins int
}

// commentViews are what a comment shows, and the same with nothing left out. Both have the same entries: an
// object of which not all changes are shown is joined with none.
func commentViews() (short, whole view) {
	const rows = 100
	return view{bodies: true, context: 3, rows: rows, lines: 300, line: longLine}, view{bodies: true, context: 3, joins: rows}
}

func newPage(p *plan.Document, v view) (*page, error) {
	names := newNamer(p)
	folded := newFolds(p, names, v.full || len(v.only) > 0)
	out := &page{title: title(p), facts: facts(p)}
	out.idle = p.Summary.ObjectChanges() == 0 && p.Summary.Hooks == 0
	out.notes = headerNotes(p, v)
	out.foremost, out.blocking, out.warnings = problems(p, names)
	out.risks = risks(p, names)
	out.dangers, out.verdict = Dangers(p.Summary.Risks), summaryLine(p)
	out.impact = impact(p, v, names)
	out.hooks, out.reviews = timelineOf(p, names), reviewsOf(p, names)
	var err error
	if out.sections, err = sections(p, v, names, folded); err != nil {
		return nil, err
	}
	out.ending, out.footnote = endingOf(p, v, names), footnote(p)
	return out, nil
}

// quiet reports whether there is nothing below the header but records.
func (p *page) quiet() bool {
	for _, s := range p.sections {
		if !p.idle || len(s.entries) > 0 {
			return false
		}
	}
	return true
}

// mark returns the sign of an op.
func mark(op plan.Op) string {
	switch op {
	case plan.OpCreate:
		return "+"
	case plan.OpPatch, plan.OpReplace, plan.OpAdopt:
		return "~"
	case plan.OpRecreate:
		return "±"
	case plan.OpDelete:
		return "-"
	case plan.OpKeep:
		return "="
	case plan.OpRun:
		return "▶"
	case plan.OpWait, plan.OpRecord, plan.OpNone:
		return " "
	}
	return " "
}

// destructive reports whether the op deletes something.
func destructive(op plan.Op) bool { return op == plan.OpDelete || op == plan.OpRecreate }
