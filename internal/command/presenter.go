package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/progress"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/internal/terminal"
	"github.com/kubectl-release/kubectl-release/plan"
)

// presenter shows what a command that applies does: as text, or as a stream of events.
type presenter interface {
	// about starts the output about a release.
	about(key release.Key)
	// plan shows a plan. It returns an error if the plan cannot be applied.
	plan(made *plan.Plan, as detail) error
	// differences shows how a plan differs from the one that was reviewed.
	differences(fresh *plan.Plan, differences []plan.Difference) error
	// warning shows a warning that is in no plan.
	warning(text string)
	// waiting shows what has been waited for for a while, before a run or during it.
	waiting(text string)
	// confirmed is called when a plan that was shown in full is about to be applied.
	confirmed()
	// watcher returns the observer of a run.
	watcher() watcher
	// end shows how a run ended. Its error is printed when the program ends.
	end(ctx context.Context, how ending) error
}

// detail is how much of a plan is shown to users. Events always contain all of it.
type detail int

const (
	known detail = iota // nothing: the user has seen the plan
	brief               // one line and the risks
	whole               // the whole plan, with its warnings
)

// ending describes how a run ended.
type ending struct {
	made    *plan.Plan
	outcome apply.Outcome
	err     error
	// idle is set if there was nothing to do.
	idle bool
}

// presented wraps the action of a command that applies, and chooses its presenter. A stream always
// ends with a summary, however the action ends.
func (p *program) presented(o *runFlags, action cli.ActionFunc) cli.ActionFunc {
	checked := func(c *cli.Context) error {
		if err := o.checkOutput(c.Command.Name == "apply" && c.NArg() > 1); err != nil {
			return err
		}
		if dry, err := dryRun(o.dryRun); o.hideSecret && !dry && err == nil {
			p.warn("--hide-secret does nothing without --dry-run: what is printed masks Secrets in any case")
		}
		return action(c)
	}
	return func(c *cli.Context) error {
		if dry, err := dryRun(o.dryRun); o.show.output != "json" || dry || err != nil {
			p.presenter = textPresenter{p, &o.show}
			return checked(c)
		}
		s := newStream(p, &o.show)
		p.presenter = s
		if c.Command.Name == "install" || c.Command.Name == "upgrade" {
			p.noteOnce("events", "-o json prints one event per line, while Helm prints the release, which is .summary.record of the last line (docs/events.md)")
		}
		s.begin()
		err := checked(c)
		s.close(c.Context, ending{err: err})
		return err
	}
}

// checkOutput refuses flags for the output that make no sense, before anything is connected or done. shows
// says whether the command shows its plan before it applies it, as it does with --dry-run.
func (o *runFlags) checkOutput(shows bool) error {
	dry, err := dryRun(o.dryRun)
	formats := outputs
	if dry || shows {
		formats = planOutputs
	}
	switch {
	case err != nil:
		return err
	case !o.show.isText() && !slices.Contains(formats, o.show.output) && (o.show.output != "md" || !dry && !shows):
		return usage("-o %s: must be %s", o.show.output, oneOf(formats))
	case o.show.output == "json" && !dry && o.show.reportsTo("-"):
		return usage("--report FORMAT=-: with -o json, events are on standard output; name a file")
	}
	return o.show.check(planOutputs)
}

// textPresenter is the presenter for text.
type textPresenter struct {
	*program
	show *showFlags
}

func (textPresenter) about(release.Key) {}

func (t textPresenter) plan(made *plan.Plan, as detail) error {
	if as == whole {
		return t.showResult(t.show, made)
	}
	if err := t.report(t.show, made); err != nil {
		return err
	}
	switch {
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

// differences shows only those objects of the plan that the differences are about.
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
		o.Summary = true // no difference is about an object
	}
	if err := report.Text(t.raw.Out, &t.masked(fresh).Document, o); err != nil {
		return err
	}
	return t.report(t.show, fresh)
}

func (textPresenter) warning(string) {}

func (t textPresenter) waiting(text string) { fmt.Fprintf(t.streams.Err, "• %s\n", text) }

func (t textPresenter) confirmed() {
	if terminal.Is(t.raw.Out) {
		fmt.Fprintln(t.streams.Err) // an empty line after the plan
	}
}

func (t textPresenter) watcher() watcher { return t.progress() }

// progress returns an observer that prints on the error stream, with a live region on a terminal.
func (p *program) progress() *progress.Printer {
	return progress.New(progress.Output{
		To: p.streams.Err, Region: p.region, Hide: p.hideMore,
		Mask: func(text string) string { return p.errorMask().Text(text) },
	})
}

func (t textPresenter) end(_ context.Context, how ending) error {
	switch {
	case how.err != nil || how.idle:
		return how.err
	case t.show.output == "yaml":
		if how.outcome.Revision == nil {
			return nil
		}
		t.separate(t.show.output)
		err := t.record(t.show.output, how.outcome.Revision)
		if lost := terminal.Failed(t.raw.Out); lost != nil && errors.Is(err, lost) {
			return nil // exit warns about it
		}
		return err
	}
	out := t.streams.Out
	if !t.show.isText() {
		out = t.streams.Err // on standard output is the plan, in its format
	}
	t.result(out, how.made)
	return nil
}

// result prints the result of a run in one line, and the chart's notes.
func (t textPresenter) result(out io.Writer, made *plan.Plan) {
	name := made.Release.Name
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

// testsResult says how the tests ended; tests that did not run do not count as passed.
func testsResult(made *plan.Plan) string {
	switch {
	case made.Summary.Hooks > 0:
		return "The tests of release " + made.Release.Name + " have passed."
	case len(made.Options.OnlyTests)+len(made.Options.SkipTests) > 0:
		return "None of the tests of release " + made.Release.String() + " was chosen; nothing has been tested."
	}
	return "Release " + made.Release.String() + " has no tests."
}
