package command

import (
	"cmp"
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
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// listed is a release in the words of Helm's list -o json.
type listed struct {
	Name       string `json:"name"`
	Namespace  string `json:"namespace"`
	Revision   string `json:"revision"`
	Updated    string `json:"updated"`
	Status     string `json:"status"`
	Chart      string `json:"chart"`
	AppVersion string `json:"app_version"`
}

func (p *program) listCommand() *cli.Command {
	status := func(name, usage string) cli.Flag { return &cli.BoolFlag{Name: name, Usage: usage} }
	return &cli.Command{
		Name: "list", Aliases: []string{"ls"}, Usage: "list releases",
		Description: describe("Lists the releases of a namespace by their newest revisions, in any status, also those\nthat are uninstalled and whose history was kept.", "kubectl release list\nkubectl release list --all-namespaces -o json\nkubectl release list --outdated --plan"),
		Flags: joined([]cli.Flag{
			outputFlag(),
			&cli.BoolFlag{Name: "all-namespaces", Aliases: []string{"A"}, Usage: "in all namespaces"},
			&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: "in any status, which is so without a status as well"},
			status("deployed", "only deployed ones"), status("failed", "only failed ones"), status("pending", "only pending ones"),
			status("superseded", "only superseded ones"), status("uninstalled", "only uninstalled ones"), status("uninstalling", "only those being uninstalled"),
			&cli.StringFlag{Name: "filter", Aliases: []string{"f"}, Usage: "regular `EXPRESSION` that names match"},
			&cli.StringFlag{Name: "selector", Aliases: []string{"l"}, Usage: "label selector of the records"},
			&cli.BoolFlag{Name: "short", Aliases: []string{"q"}, Usage: "only names"},
			&cli.BoolFlag{Name: "date", Aliases: []string{"d"}, Usage: "sort by date"},
			&cli.BoolFlag{Name: "reverse", Aliases: []string{"r"}, Usage: "sort the other way round"},
			&cli.IntFlag{Name: "max", Aliases: []string{"m"}, Usage: "at most so many; 0 lists all"},
			&cli.IntFlag{Name: "offset", Usage: "leave out so many first ones"},
			&cli.BoolFlag{Name: "no-headers", Usage: "print no header"},
			&cli.StringFlag{Name: "time-format", Usage: "print times by this `LAYOUT` of Go's, such as 2006-01-02"},
		}, outdatedFlags(), pathFlags()),
		Action: p.readOnly(p.list),
	}
}

func (p *program) list(c *cli.Context) error {
	if _, err := arguments(c, 0, 0); err != nil {
		return err
	}
	f, err := format(c)
	if err != nil {
		return err
	}
	if err := checkOutdated(c); err != nil {
		return err
	}
	s, err := p.connect(c)
	if err != nil {
		return err
	}
	query, err := listQuery(c, s.namespace)
	if err != nil {
		return err
	}
	found, err := s.store.List(c.Context, query)
	if corrupt, only := releasestore.Corrupt(err); only {
		for _, one := range corrupt {
			fmt.Fprintf(p.streams.Err, "Warning: %s\n", one.Error())
		}
	} else if err != nil {
		return err
	}
	if found, err = narrow(c, found); err != nil {
		return err
	}
	if c.Bool("outdated") {
		return p.outdated(c, s, f, found)
	}
	return p.printList(c, f, found)
}

func listQuery(c *cli.Context, namespace string) (releasestore.Query, error) {
	q := releasestore.Query{Namespace: namespace, Statuses: listStatuses(c)}
	if c.Bool("all-namespaces") {
		q.Namespace = ""
	}
	if text := c.String("selector"); text != "" {
		selector, err := labels.Parse(text)
		if err != nil {
			return q, usage("--selector %s: %v", text, err)
		}
		q.Selector = selector
	}
	return q, nil
}

// listStatuses are those that flags name; none are all of them.
func listStatuses(c *cli.Context) []release.Status {
	if c.Bool("all") {
		return nil
	}
	var out []release.Status
	for flag, statuses := range map[string][]release.Status{
		"deployed": {release.StatusDeployed}, "failed": {release.StatusFailed}, "superseded": {release.StatusSuperseded},
		"uninstalled": {release.StatusUninstalled}, "uninstalling": {release.StatusUninstalling},
		"pending": {release.StatusPendingInstall, release.StatusPendingUpgrade, release.StatusPendingRollback},
	} {
		if c.Bool(flag) {
			out = append(out, statuses...)
		}
	}
	return out
}

// narrow filters, sorts and cuts what was found.
func narrow(c *cli.Context, found []*release.Revision) ([]*release.Revision, error) {
	if text := c.String("filter"); text != "" {
		pattern, err := regexp.Compile(text)
		if err != nil {
			return nil, usage("--filter: %v", err)
		}
		found = slices.DeleteFunc(found, func(r *release.Revision) bool { return !pattern.MatchString(r.Name) })
	}
	slices.SortStableFunc(found, func(a, b *release.Revision) int {
		if c.Bool("date") {
			return a.Info.LastDeployed.Compare(b.Info.LastDeployed)
		}
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Namespace, b.Namespace))
	})
	if c.Bool("reverse") {
		slices.Reverse(found)
	}
	found = found[min(max(0, c.Int("offset")), len(found)):]
	if most := c.Int("max"); most > 0 {
		found = found[:min(most, len(found))]
	}
	return found, nil
}

func (p *program) printList(c *cli.Context, format string, found []*release.Revision) error {
	rows := make([]listed, 0, len(found))
	cells := make([][]string, 0, len(found))
	for _, r := range found {
		exact, readable := r.Info.LastDeployed.String(), localTime(r.Info.LastDeployed)
		if layout := c.String("time-format"); layout != "" {
			exact = r.Info.LastDeployed.Format(layout)
			readable = exact
		}
		cells = append(cells, []string{r.Name, r.Namespace, strconv.Itoa(r.Version), readable, string(r.Info.Status), r.ChartLabel(), r.AppVersion()})
		rows = append(rows, listed{
			Name: r.Name, Namespace: r.Namespace, Revision: strconv.Itoa(r.Version), Updated: exact,
			Status: string(r.Info.Status), Chart: r.ChartLabel(), AppVersion: r.AppVersion(),
		})
	}
	switch {
	case c.Bool("short") && format != "text":
		names := make([]string, 0, len(rows))
		for _, r := range rows {
			names = append(names, r.Name)
		}
		return p.structured(format, names)
	case c.Bool("short"):
		for _, r := range rows {
			fmt.Fprintln(p.streams.Out, escape.Line(r.Name))
		}
		return nil
	case format != "text":
		return p.structured(format, rows)
	}
	header := []string{"NAME", "NAMESPACE", "REVISION", "UPDATED", "STATUS", "CHART", "APP VERSION"}
	if c.Bool("no-headers") {
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
