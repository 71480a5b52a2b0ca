package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/terminal"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// readFlags are the flags of commands that read one revision.
type readFlags struct {
	outputFlags
	revision int
}

func (o *readFlags) revisionFlag() cli.Flag {
	return &cli.IntFlag{Name: "revision", Destination: &o.revision, Usage: "this revision instead of the newest"}
}

// read reads the revision of --revision, or the newest. As in Helm, no number below 1 is a revision.
func (o *readFlags) read(ctx context.Context, s *session, name string) (*release.Revision, error) {
	if o.revision > 0 {
		r, err := s.store.Get(ctx, s.key(name), o.revision)
		var missing *releasestore.NotFoundError
		if errors.As(err, &missing) {
			return nil, &engine.NoRevisionError{Key: s.key(name), Revision: o.revision}
		}
		return r, err
	}
	return s.engine.Newest(ctx, s.key(name))
}

// onRelease returns the action of a command that works on one release: NAME is its only argument.
func (p *program) onRelease(work func(ctx context.Context, s *session, name string) error) cli.ActionFunc {
	return takes(1, 1, func(ctx context.Context, args []string) error { return p.connected(ctx, args[0], work) })
}

// onReleaseAs is onRelease for a command with -o, which is checked before any request.
func (p *program) onReleaseAs(o *outputFlags, work func(ctx context.Context, s *session, name string) error) cli.ActionFunc {
	return takes(1, 1, func(ctx context.Context, args []string) error {
		if _, err := o.format(); err != nil {
			return err
		}
		return p.connected(ctx, args[0], work)
	})
}

func (p *program) connected(ctx context.Context, name string, work func(ctx context.Context, s *session, name string) error) error {
	s, err := p.connect()
	if err != nil {
		return err
	}
	return work(ctx, s, name)
}

// statusFlags are the flags of status.
type statusFlags struct {
	readFlags
	watch, showChart bool
}

func (p *program) statusCommand() *cli.Command {
	var o statusFlags
	return &cli.Command{
		Name: "status", Usage: "show a release's state", ArgsUsage: "NAME",
		Description: describe("Shows the newest revision's status, the state of its objects and tests, who is working on\nthe release, and the commands to continue from a failed or interrupted run.",
			"kubectl release status web\nkubectl release status web --watch\nkubectl release status web --revision 3 -o json"),
		Flags: []cli.Flag{
			o.flag(), o.revisionFlag(),
			&cli.BoolFlag{Name: "watch", Destination: &o.watch, Aliases: []string{"w"}, Usage: "show it again whenever it changes"},
			&cli.BoolFlag{Name: "show-chart", Destination: &o.showChart, Usage: "with -o json and yaml: include the chart with its files"},
		},
		Action: p.readOnly(p.onReleaseAs(&o.outputFlags, func(ctx context.Context, s *session, name string) error {
			return p.status(ctx, s, &o, name)
		})),
	}
}

func (p *program) status(ctx context.Context, s *session, o *statusFlags, name string) error {
	f, err := o.format()
	if err != nil {
		return err
	}
	if o.watch {
		if f != "text" {
			return usage("--watch shows text; use kubectl get --watch for a stream of objects")
		}
		return p.watchStatus(ctx, s, o, name)
	}
	r, err := o.read(ctx, s, name)
	if err != nil {
		return err
	}
	if f == "text" {
		text, err := p.statusText(ctx, s, r)
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(p.streams.Out, text)
		return err
	}
	tree, err := p.statusTree(ctx, s, r, o.showChart)
	if err != nil {
		return err
	}
	return p.structured(f, tree)
}

// watching is the interval at which status --watch reads the release.
const watching = 2 * time.Second

// watchStatus prints a release's status whenever it changes. On a terminal, it replaces the
// previous one.
func (p *program) watchStatus(ctx context.Context, s *session, o *statusFlags, name string) error {
	for shown := ""; ; {
		r, err := o.read(ctx, s, name)
		if err != nil {
			return err
		}
		text, err := p.statusText(ctx, s, r)
		if err != nil {
			return err
		}
		if text != shown {
			switch {
			case terminal.Is(p.raw.Out):
				fmt.Fprint(p.raw.Out, "\x1b[H\x1b[2J")
			case shown != "":
				fmt.Fprintln(p.streams.Out, "---")
			}
			fmt.Fprint(p.streams.Out, text)
			shown = text
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(watching):
		}
	}
}

func (p *program) statusText(ctx context.Context, s *session, r *release.Revision) (string, error) {
	holder, held, err := s.engine.Holder(ctx, r.Key())
	if err != nil {
		return "", err
	}
	var out strings.Builder
	fmt.Fprintf(&out, "NAME: %s\nLAST DEPLOYED: %s\nNAMESPACE: %s\nSTATUS: %s\nREVISION: %d\nCHART: %s\nDESCRIPTION: %s\n",
		escape.Line(r.Name), r.Info.LastDeployed.Local().Format(time.ANSIC), escape.Line(r.Namespace), escape.Line(string(r.Info.Status)), r.Version,
		escape.Line(r.ChartLabel()), described(r))
	if from := plan.AnnotatedSource(r.Annotations()); from != nil {
		fmt.Fprintf(&out, "SOURCE: %s (%s)\n", escape.Line(from.URL), escape.Line(from.Digest))
	}
	if held {
		fmt.Fprintf(&out, "LOCKED BY: %s\n", escape.Line(holder.Text()))
	} else if next, err := p.next(ctx, s, r, holder.Unread); err != nil {
		return "", err
	} else if next != "" {
		out.WriteString("\n" + next + "\n")
	}
	if inCluster(r) {
		states, err := s.engine.State(ctx, r)
		if err != nil {
			return "", err
		}
		out.WriteString(objectsText(states, redact.NewRecordMask(r)) + testsText(r))
	}
	if notes := strings.TrimSpace(r.Info.Notes); notes != "" {
		fmt.Fprintf(&out, "\nNOTES:\n%s\n", notes)
	}
	return out.String(), nil
}

// next is nextText for a revision whose lock nobody holds.
func (p *program) next(ctx context.Context, s *session, r *release.Revision, unread bool) (string, error) {
	if !r.Info.Status.Pending() && r.Info.Status != release.StatusFailed {
		return "", nil
	}
	history, _, err := s.engine.History(ctx, r.Key())
	if err != nil || history.Last().Version != r.Version {
		return "", err
	}
	return p.nextText(r, history, engine.PendingOf(r, unread)), nil
}

// described returns a revision's description. That of a failed revision may quote the revision's
// secrets if Helm wrote it. Other descriptions are not masked, because reading manifests takes
// time.
func described(r *release.Revision) string {
	if !r.QuotesError() {
		return r.Info.Description
	}
	return redact.NewRecordMask(r).Text(r.Info.Description)
}
