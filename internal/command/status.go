package command

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

func revisionFlag() cli.Flag {
	return &cli.IntFlag{Name: "revision", Usage: "this revision instead of the newest"}
}

// revision reads the revision that --revision names, else the newest.
func (p *program) revision(c *cli.Context, s *session, name string) (*release.Revision, error) {
	if version := c.Int("revision"); version != 0 {
		r, err := s.store.Get(c.Context, s.key(name), version)
		var missing *releasestore.NotFoundError
		if errors.As(err, &missing) {
			return nil, &engine.NoRevisionError{Key: s.key(name), Revision: version}
		}
		return r, err
	}
	return s.engine.Newest(c.Context, s.key(name))
}

// onRelease is the action of commands that read one release: NAME is their
// only argument, and -o is checked before anything is asked.
func (p *program) onRelease(read func(c *cli.Context, s *session, name string) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		args, err := arguments(c, 1, 1)
		if err != nil {
			return err
		}
		if _, err := format(c); err != nil {
			return err
		}
		s, err := p.connect(c)
		if err != nil {
			return err
		}
		return read(c, s, args[0])
	}
}

func (p *program) statusCommand() *cli.Command {
	return &cli.Command{
		Name: "status", Usage: "show a release's state", ArgsUsage: "NAME",
		Description: describe("Shows the newest revision's status, what its objects and tests have come to, who is at\nwork on the release, and the commands that go on from a failed or interrupted run.",
			"kubectl release status web\nkubectl release status web --watch\nkubectl release status web --revision 3 -o json"),
		Flags: []cli.Flag{
			outputFlag(), revisionFlag(),
			&cli.BoolFlag{Name: "watch", Aliases: []string{"w"}, Usage: "show it again whenever it has changed"},
			&cli.BoolFlag{Name: "show-chart", Usage: "with -o json and yaml: the chart with its files, too"},
		},
		Action: p.readOnly(p.onRelease(func(c *cli.Context, s *session, name string) error {
			f, err := format(c)
			if err != nil {
				return err
			}
			if c.Bool("watch") {
				if f != "text" {
					return usage("--watch shows text; use kubectl get --watch for a stream of objects")
				}
				return p.watchStatus(c, s, name)
			}
			r, err := p.revision(c, s, name)
			if err != nil {
				return err
			}
			if f == "text" {
				text, err := p.statusText(c, s, r)
				if err != nil {
					return err
				}
				_, err = fmt.Fprint(p.streams.Out, text)
				return err
			}
			tree, err := p.statusTree(c, s, r)
			if err != nil {
				return err
			}
			return p.structured(f, tree)
		})),
	}
}

// watching is how often status --watch looks.
const watching = 2 * time.Second

// watchStatus shows a release's status whenever it has changed; on a terminal in the
// place of the one before.
func (p *program) watchStatus(c *cli.Context, s *session, name string) error {
	for shown := ""; ; {
		r, err := p.revision(c, s, name)
		if err != nil {
			return err
		}
		text, err := p.statusText(c, s, r)
		if err != nil {
			return err
		}
		if text != shown {
			switch {
			case isTerminal(p.raw.Out):
				fmt.Fprint(p.raw.Out, "\x1b[H\x1b[2J")
			case shown != "":
				fmt.Fprintln(p.streams.Out, "---")
			}
			fmt.Fprint(p.streams.Out, text)
			shown = text
		}
		select {
		case <-c.Done():
			return c.Err()
		case <-time.After(watching):
		}
	}
}

func (p *program) statusText(c *cli.Context, s *session, r *release.Revision) (string, error) {
	holder, held, err := s.engine.Holder(c.Context, r.Key())
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
	} else if next, err := p.next(c, s, r, holder.Unread); err != nil {
		return "", err
	} else if next != "" {
		out.WriteString("\n" + next + "\n")
	}
	if inCluster(r) {
		states, err := s.engine.State(c.Context, r)
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

// next is nextText of a revision that nobody is at work on.
func (p *program) next(c *cli.Context, s *session, r *release.Revision, unread bool) (string, error) {
	if !r.Info.Status.Pending() && r.Info.Status != release.StatusFailed {
		return "", nil
	}
	history, err := s.engine.History(c.Context, r.Key())
	if err != nil || history.Last().Version != r.Version {
		return "", err
	}
	return p.nextText(r, history, engine.PendingOf(r, unread)), nil
}

// described is a revision's description. That of a failed one may quote secrets
// of its own when Helm wrote it; reading manifests takes time, so that those of
// others are left alone.
func described(r *release.Revision) string {
	if r.Info.Status != release.StatusFailed {
		return r.Info.Description
	}
	return redact.NewRecordMask(r).Text(r.Info.Description)
}
