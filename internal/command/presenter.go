package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/plan"
)

// presenter shows what a command that applies does: as text for people, or as a stream
// of events.
type presenter interface {
	// about begins what there is to tell of a release.
	about(key release.Key)
	// plan shows a plan. The error says that it can't be applied.
	plan(made *plan.Plan, as detail) error
	// differences shows in which ways a plan is not the one that was reviewed.
	differences(fresh *plan.Plan, differences []plan.Difference) error
	// warning is told what was warned of and is in no plan.
	warning(text string)
	// confirmed is told that a plan that was shown whole is going to be applied.
	confirmed()
	// watcher is told what a run does.
	watcher() watcher
	// end tells how a run has ended. Its error is printed when the program ends.
	end(ctx context.Context, how ending) error
}

// detail is how much of a plan people see. Events always have all of it.
type detail int

const (
	known detail = iota // they have seen it
	brief               // a line, and its risks
	whole               // with its warnings
)

// ending is how a run has ended.
type ending struct {
	made    *plan.Plan
	outcome apply.Outcome
	err     error
	// idle says that there was nothing to do.
	idle bool
}

// presented wraps the action of a command that applies: it chooses how that is shown.
// A stream is closed with a summary whichever way the action ends.
func (p *program) presented(o *runFlags, action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if dry, err := dryRun(o.dryRun); o.show.output != "json" || dry || err != nil {
			p.presenter = textPresenter{p, &o.show}
			return action(c)
		}
		s := newStream(p, &o.show)
		p.presenter = s
		if c.Command.Name == "install" || c.Command.Name == "upgrade" {
			p.noteOnce("events", "-o json prints an event a line, and Helm prints the release; that is .summary.record of the last line (docs/events.md)")
		}
		s.begin()
		err := action(c)
		s.close(c.Context, ending{err: err})
		return err
	}
}

// textPresenter is the presenter for people.
type textPresenter struct {
	*program
	show *showFlags
}

func (textPresenter) about(release.Key) {}

func (t textPresenter) plan(made *plan.Plan, as detail) error {
	switch {
	case as == whole:
		return t.showResult(t.show, made)
	case made.Blocked():
		return t.blocked(made)
	case as == brief:
		if dangers := report.Dangers(made.Summary.Risks); dangers != "" {
			fmt.Fprintln(t.streams.Err, dangers)
		}
		fmt.Fprintf(t.streams.Err, "%s\n", headline(made))
	}
	return nil
}

// differences shows of the plan only the objects that this is about.
func (t textPresenter) differences(fresh *plan.Plan, differences []plan.Difference) error {
	fmt.Fprintln(t.streams.Out, "Since the plan was reviewed:")
	o := t.text(t.show, t.raw.Out)
	for _, d := range differences {
		fmt.Fprintf(t.streams.Out, "  %s\n", t.mask.Load().Text(d.String()))
		if d.Object != (manifest.ID{}) {
			o.Only = append(o.Only, d.Object.Kind+"/"+d.Object.Name)
		}
	}
	fmt.Fprintln(t.streams.Out)
	if len(o.Only) == 0 {
		o.Summary = true // no object is different
	}
	return report.Text(t.raw.Out, &t.masked(fresh).Document, o)
}

func (textPresenter) warning(string) {}

func (t textPresenter) confirmed() {
	if isTerminal(t.raw.Out) {
		fmt.Fprintln(t.streams.Err) // the plan ends here
	}
}

func (t textPresenter) watcher() watcher { return t.progress() }

func (t textPresenter) end(_ context.Context, how ending) error {
	switch {
	case how.err != nil || how.idle:
		return how.err
	case t.show.output == "yaml":
		if how.outcome.Revision == nil {
			return nil
		}
		return t.record(t.show.output, how.outcome.Revision)
	}
	t.result(how.made)
	return nil
}

// result is what a run has come to, in a line and the chart's notes.
func (t textPresenter) result(made *plan.Plan) {
	name, out := made.Release.Name, t.streams.Out
	switch made.Operation {
	case plan.Install:
		fmt.Fprintf(out, "Release %s is installed in namespace %s (revision %d).\n", name, made.Release.Namespace, made.ToRevision)
	case plan.Upgrade:
		fmt.Fprintf(out, "Release %s is upgraded to revision %d.\n", name, made.ToRevision)
	case plan.Rollback:
		fmt.Fprintf(out, "Release %s is rolled back to revision %d (as revision %d).\n", name, made.RollbackTo, made.ToRevision)
	case plan.Uninstall:
		fmt.Fprintf(out, "Release %s is uninstalled.\n", name)
	case plan.Test:
		fmt.Fprintln(out, testsResult(made))
	case plan.CorrectDrift:
		fmt.Fprintf(out, "Drift of release %s is corrected.\n", name)
	case plan.CorrectRecords:
		fmt.Fprintf(out, "Records of release %s are corrected.\n", name)
	}
	if notes := strings.TrimSpace(made.Notes); notes != "" && !t.show.hideNotes && (made.Operation == plan.Install || made.Operation == plan.Upgrade) {
		fmt.Fprintf(out, "\nNOTES:\n%s\n", t.mask.Load().Notes(notes))
	}
}

// testsResult does not call passed what has not run.
func testsResult(made *plan.Plan) string {
	switch {
	case made.Summary.Hooks > 0:
		return "The tests of release " + made.Release.Name + " have passed."
	case len(made.Options.OnlyTests)+len(made.Options.SkipTests) > 0:
		return "None of the tests of release " + made.Release.String() + " was chosen; nothing has been tested."
	}
	return "Release " + made.Release.String() + " has no tests."
}
