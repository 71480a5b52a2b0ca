package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/gcpacing"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// listed is a release in the form of helm list -o json (Helm 4.3.1, pkg/cmd/list.go).
type listed struct {
	Name       string `json:"name"`
	Namespace  string `json:"namespace"`
	Revision   string `json:"revision"`
	Updated    string `json:"updated"`
	Status     string `json:"status"`
	Chart      string `json:"chart"`
	AppVersion string `json:"app_version"`
}

// listFlags are the flags of list.
type listFlags struct {
	outputFlags
	allNamespaces, all                                               bool
	deployed, failed, pending, superseded, uninstalled, uninstalling bool
	filter, selector, timeFormat                                     string
	short, date, reverse, noHeaders                                  bool
	max, offset                                                      int
	outdated                                                         outdatedFlags
}

func (o *listFlags) flags(paths *pathFlags) []cli.Flag {
	toggle := func(name string, to *bool, usage string, aliases ...string) cli.Flag {
		return &cli.BoolFlag{Name: name, Destination: to, Aliases: aliases, Usage: usage}
	}
	return joined([]cli.Flag{
		o.flag(),
		toggle("all-namespaces", &o.allNamespaces, "in all namespaces", "A"),
		toggle("all", &o.all, "releases in any status (the default if no status is given)", "a"),
		toggle("deployed", &o.deployed, "only deployed releases"),
		toggle("failed", &o.failed, "only failed releases"),
		toggle("pending", &o.pending, "only pending releases"),
		toggle("superseded", &o.superseded, "only superseded releases; on its own: all superseded revisions"),
		toggle("uninstalled", &o.uninstalled, "only uninstalled releases"),
		toggle("uninstalling", &o.uninstalling, "only releases that are being uninstalled"),
		&cli.StringFlag{Name: "filter", Destination: &o.filter, Aliases: []string{"f"}, Usage: "regular `EXPRESSION` that names match"},
		&cli.StringFlag{Name: "selector", Destination: &o.selector, Aliases: []string{"l"}, Usage: "label selector of the records"},
		toggle("short", &o.short, "print only names", "q"),
		toggle("date", &o.date, "sort by date", "d"),
		toggle("reverse", &o.reverse, "sort in reverse order", "r"),
		&cli.IntFlag{Name: "max", Destination: &o.max, Aliases: []string{"m"}, Usage: "list at most this many; 0 lists all"},
		&cli.IntFlag{Name: "offset", Destination: &o.offset, Usage: "skip this many releases at the start"},
		noHeadersFlag(&o.noHeaders),
		&cli.StringFlag{Name: "time-format", Destination: &o.timeFormat, Usage: "print times in this Go `LAYOUT`, such as 2006-01-02"},
	}, o.outdated.flags(), paths.flags())
}

func noHeadersFlag(to *bool) cli.Flag {
	return &cli.BoolFlag{Name: "no-headers", Destination: to, Usage: "print no header"}
}

func (p *program) listCommand() *cli.Command {
	var o listFlags
	return &cli.Command{
		Name: "list", Aliases: []string{"ls"}, Usage: "list releases",
		Description: describe(`Lists the releases of a namespace by their newest revisions, in any status, including
uninstalled ones whose history was kept.`, `kubectl release list
kubectl release list --all-namespaces -o json
kubectl release list --outdated --plan`),
		Flags:  o.flags(&p.paths),
		Action: p.readOnly(takes(0, 0, func(ctx context.Context, _ []string) error { return p.list(ctx, &o) })),
	}
}

func (p *program) list(ctx context.Context, o *listFlags) error {
	f, err := o.format()
	if err != nil {
		return err
	}
	if err := o.outdated.check(); err != nil {
		return err
	}
	s, err := p.connect()
	if err != nil {
		return err
	}
	query, err := o.query(s.namespace)
	if err != nil {
		return err
	}
	gcpacing.Tighten()
	found, err := s.store.List(ctx, query)
	if corrupt, only := releasestore.Corrupt(err); only {
		for _, one := range corrupt {
			p.warn(one.Error())
		}
	} else if err != nil {
		return err
	}
	if found, err = o.narrow(found); err != nil {
		return err
	}
	if o.outdated.only {
		return p.outdated(ctx, s, o, f, found)
	}
	return p.printList(o, f, found)
}

func (o *listFlags) query(namespace string) (releasestore.Query, error) {
	statuses := o.statuses()
	// Superseded revisions are never the newest, but for an interrupted run. Helm, too, lists all of
	// them if nothing else is asked for (Helm 4.3.1, pkg/action/list.go, Run).
	every := slices.Equal(statuses, []release.Status{release.StatusSuperseded})
	q := releasestore.Query{Namespace: namespace, EveryRevision: every, Statuses: statuses}
	if o.allNamespaces {
		q.Namespace = ""
	}
	if text := o.selector; text != "" {
		selector, err := labels.Parse(text)
		if err != nil {
			return q, usage("--selector %s: %v", text, err)
		}
		q.Selector = selector
	}
	return q, nil
}

// statuses returns the statuses that the flags name; nil stands for all.
func (o *listFlags) statuses() []release.Status {
	if o.all {
		return nil
	}
	var out []release.Status
	for _, one := range []struct {
		given    bool
		statuses []release.Status
	}{
		{o.deployed, []release.Status{release.StatusDeployed}},
		{o.failed, []release.Status{release.StatusFailed}},
		{o.superseded, []release.Status{release.StatusSuperseded}},
		{o.uninstalled, []release.Status{release.StatusUninstalled}},
		{o.uninstalling, []release.Status{release.StatusUninstalling}},
		{o.pending, []release.Status{release.StatusPendingInstall, release.StatusPendingUpgrade, release.StatusPendingRollback}},
	} {
		if one.given {
			out = append(out, one.statuses...)
		}
	}
	return out
}

// narrow filters, sorts and cuts the list of releases.
func (o *listFlags) narrow(found []*release.Revision) ([]*release.Revision, error) {
	if text := o.filter; text != "" {
		pattern, err := regexp.Compile(text)
		if err != nil {
			return nil, usage("--filter: %v", err)
		}
		found = slices.DeleteFunc(found, func(r *release.Revision) bool { return !pattern.MatchString(r.Name) })
	}
	slices.SortStableFunc(found, func(a, b *release.Revision) int {
		if o.date {
			return a.Info.LastDeployed.Compare(b.Info.LastDeployed)
		}
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Namespace, b.Namespace))
	})
	if o.reverse {
		slices.Reverse(found)
	}
	found = found[min(max(0, o.offset), len(found)):]
	if most := o.max; most > 0 {
		found = found[:min(most, len(found))]
	}
	return found, nil
}

func (p *program) printList(o *listFlags, format string, found []*release.Revision) error {
	rows := make([]listed, 0, len(found))
	cells := make([][]string, 0, len(found))
	for _, r := range found {
		exact, readable := r.Info.LastDeployed.String(), localTime(r.Info.LastDeployed)
		if layout := o.timeFormat; layout != "" {
			exact = r.Info.LastDeployed.Format(layout)
			readable = exact
		}
		if r.Info.LastDeployed.IsZero() {
			exact, readable = "-", "-"
		}
		cells = append(cells, []string{r.Name, r.Namespace, strconv.Itoa(r.Version), readable, string(r.Info.Status), r.ChartLabel(), r.AppVersion()})
		rows = append(rows, listed{
			Name: r.Name, Namespace: r.Namespace, Revision: strconv.Itoa(r.Version), Updated: exact,
			Status: string(r.Info.Status), Chart: r.ChartLabel(), AppVersion: r.AppVersion(),
		})
	}
	switch {
	case o.short && format != "text":
		names := make([]string, 0, len(rows))
		for _, r := range rows {
			names = append(names, r.Name)
		}
		return p.structured(format, names)
	case o.short:
		for _, r := range rows {
			fmt.Fprintln(p.streams.Out, escape.Line(r.Name))
		}
		return nil
	case format != "text":
		return p.structured(format, rows)
	}
	header := []string{"NAME", "NAMESPACE", "REVISION", "UPDATED", "STATUS", "CHART", "APP VERSION"}
	if o.noHeaders {
		header = nil
	}
	return table(p.streams.Out, header, cells)
}

// table prints aligned columns.
func table(w io.Writer, header []string, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 8, 3, ' ', 0)
	if header != nil {
		rows = append([][]string{header}, rows...)
	}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = escape.Line(cell)
		}
		if _, err := fmt.Fprintln(t, strings.Join(cells, "\t")); err != nil {
			return err
		}
	}
	return t.Flush()
}
