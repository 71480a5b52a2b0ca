package command

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/release"
)

// historical is a revision in the form of helm history -o json (Helm 4.3.1, pkg/cmd/history.go).
type historical struct {
	Revision    int       `json:"revision"`
	Updated     time.Time `json:"updated,omitzero"`
	Status      string    `json:"status"`
	Chart       string    `json:"chart"`
	AppVersion  string    `json:"app_version"`
	Rollback    int       `json:"rollback_revision,omitempty"`
	Description string    `json:"description"`
}

// historyFlags are the flags of history.
type historyFlags struct {
	outputFlags
	max          int
	showRollback bool
}

func (p *program) historyCommand() *cli.Command {
	var o historyFlags
	return &cli.Command{
		Name: "history", Aliases: []string{"hist"}, Usage: "list a release's revisions", ArgsUsage: "NAME",
		Description: describe("Lists the stored revisions of a release, oldest first.", "kubectl release history web"),
		Flags: []cli.Flag{
			o.flag(), &cli.IntFlag{Name: "max", Destination: &o.max, Usage: "list at most this many of the newest revisions; 0 lists all", Value: 256},
			&cli.BoolFlag{Name: "show-rollback-revision", Destination: &o.showRollback, Usage: "show which revision each rollback went back to"},
		},
		Action: p.readOnly(p.onReleaseAs(&o.outputFlags, func(ctx context.Context, s *session, name string) error {
			history, corrupt, err := s.engine.History(ctx, s.key(name))
			if err != nil {
				return err
			}
			for _, c := range corrupt {
				p.warn("the " + c.Why)
			}
			if most := o.max; most > 0 && len(history) > most {
				history = history[len(history)-most:]
			}
			return p.printHistory(&o, history)
		})),
	}
}

func (p *program) printHistory(o *historyFlags, history release.History) error {
	f, err := o.format()
	if err != nil {
		return err
	}
	rows := make([]historical, 0, len(history))
	cells := [][]string{{"REVISION", "UPDATED", "STATUS", "CHART", "APP VERSION", "ROLLBACK", "DESCRIPTION"}}
	for _, r := range history {
		row := historical{
			Revision: r.Version, Updated: r.Info.LastDeployed, Status: string(r.Info.Status),
			Chart: r.ChartLabel(), AppVersion: r.AppVersion(), Rollback: r.Info.RollbackRevision, Description: described(r),
		}
		back := ""
		if row.Rollback > 0 {
			back = strconv.Itoa(row.Rollback)
		}
		rows = append(rows, row)
		cells = append(cells, []string{
			strconv.Itoa(row.Revision), localTime(row.Updated), row.Status, row.Chart, row.AppVersion, back, firstLine(row.Description),
		})
	}
	if f != "text" {
		return p.structured(f, rows)
	}
	if !o.showRollback {
		for i, row := range cells {
			cells[i] = slices.Delete(row, 5, 6)
		}
	}
	return table(p.streams.Out, cells[0], cells[1:])
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
