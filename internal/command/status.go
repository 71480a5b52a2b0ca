package command

import (
	"errors"
	"fmt"
	"strconv"
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
		Description: describe("Shows the newest revision's status and notes, who is at work on the release, and what\na plan would make of an interrupted run.", "kubectl release status web\nkubectl release status web --revision 3 -o json"),
		Flags:       []cli.Flag{outputFlag(), revisionFlag()},
		Action: p.readOnly(p.onRelease(func(c *cli.Context, s *session, name string) error {
			r, err := p.revision(c, s, name)
			if err != nil {
				return err
			}
			f, err := format(c)
			if err != nil {
				return err
			}
			if f != "text" {
				return p.structured(f, r.WithStatus(r.Info.Status, described(r)))
			}
			return p.printStatus(c, s, r)
		})),
	}
}

func (p *program) printStatus(c *cli.Context, s *session, r *release.Revision) error {
	holder, held, err := s.engine.Holder(c.Context, r.Key())
	if err != nil {
		return err
	}
	out := p.streams.Out
	fmt.Fprintf(out, "NAME: %s\nLAST DEPLOYED: %s\nNAMESPACE: %s\nSTATUS: %s\nREVISION: %d\nCHART: %s\nDESCRIPTION: %s\n",
		escape.Line(r.Name), r.Info.LastDeployed.Local().Format(time.ANSIC), escape.Line(r.Namespace), escape.Line(string(r.Info.Status)), r.Version,
		escape.Line(r.ChartLabel()), described(r))
	if from := plan.AnnotatedSource(r.Annotations()); from != nil {
		fmt.Fprintf(out, "SOURCE: %s (%s)\n", escape.Line(from.URL), escape.Line(from.Digest))
	}
	switch {
	case held:
		fmt.Fprintf(out, "LOCKED BY: %s, since %s, last renewed %s\n", escape.Line(holder.Identity.Text()), localTime(holder.Since), localTime(holder.Renewed))
	case r.Info.Status.Pending() && (holder.Unread || strings.HasSuffix(r.Info.Description, plan.UnlockedMark)):
		fmt.Fprintf(out, "\nThere is no permission on Leases, so that nobody can tell whether the run that wrote this\nrevision is still at work. When it is not, --take-over goes on from it.\n")
	case r.Info.Status.Pending():
		fmt.Fprintf(out, "\nNobody holds the release's lock, so the run that wrote this revision was interrupted,\nor it was another tool's. %s shows how it would go on.\n", p.command("plan", r.Name, "CHART"))
	}
	if notes := strings.TrimSpace(r.Info.Notes); notes != "" {
		fmt.Fprintf(out, "\nNOTES:\n%s\n", notes)
	}
	return nil
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

// historical is a revision in the words of Helm's history -o json.
type historical struct {
	Revision    int       `json:"revision"`
	Updated     time.Time `json:"updated"`
	Status      string    `json:"status"`
	Chart       string    `json:"chart"`
	AppVersion  string    `json:"app_version"`
	Description string    `json:"description"`
}

func (p *program) historyCommand() *cli.Command {
	return &cli.Command{
		Name: "history", Aliases: []string{"hist"}, Usage: "list a release's revisions", ArgsUsage: "NAME",
		Description: describe("Lists the stored revisions of a release, oldest first.", "kubectl release history web"),
		Flags:       []cli.Flag{outputFlag(), &cli.IntFlag{Name: "max", Usage: "at most so many of the newest", Value: 256}},
		Action: p.readOnly(p.onRelease(func(c *cli.Context, s *session, name string) error {
			history, err := s.engine.History(c.Context, s.key(name))
			if err != nil {
				return err
			}
			if most := c.Int("max"); most > 0 && len(history) > most {
				history = history[len(history)-most:]
			}
			f, err := format(c)
			if err != nil {
				return err
			}
			return p.printHistory(f, history)
		})),
	}
}

func (p *program) printHistory(format string, history release.History) error {
	rows := make([]historical, 0, len(history))
	cells := make([][]string, 0, len(history))
	for _, r := range history {
		rows = append(rows, historical{
			Revision: r.Version, Updated: r.Info.LastDeployed, Status: string(r.Info.Status),
			Chart: r.ChartLabel(), AppVersion: r.AppVersion(), Description: described(r),
		})
		cells = append(cells, []string{
			strconv.Itoa(r.Version), localTime(r.Info.LastDeployed), string(r.Info.Status),
			r.ChartLabel(), r.AppVersion(), firstLine(described(r)),
		})
	}
	if format != "text" {
		return p.structured(format, rows)
	}
	return table(p.streams.Out, []string{"REVISION", "UPDATED", "STATUS", "CHART", "APP VERSION", "DESCRIPTION"}, cells)
}
