package command

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/dependency"
)

func (p *program) dependencyListCommand() *cli.Command {
	return &cli.Command{
		Name: "list", Aliases: []string{"ls"}, Usage: "list what a chart depends on, and what is there of it", ArgsUsage: "[CHART]",
		Description: describe("Lists the dependencies of a folder or an archive. STATUS is ok, unpacked, missing, wrong\nversion, wrong digest (not the archive in the lock), invalid version, corrupt, misnamed or\ntoo many matches.", "kubectl release dependency list ./web"),
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "max-col-width", Usage: "`WIDTH` of a column; 0 is any", Value: 80},
			outputFlag(), outsideLinksFlag(),
		},
		Action: p.readOnly(p.dependencyList),
	}
}

func (p *program) dependencyList(c *cli.Context) error {
	args, err := arguments(c, 0, 1)
	if err != nil {
		return err
	}
	form, err := format(c)
	if err != nil {
		return err
	}
	path := "."
	if len(args) > 0 {
		path = args[0]
	}
	list, warnings, err := dependency.List(path, chartOptions(c))
	if err != nil {
		return err
	}
	p.warnAll(warnings)
	switch {
	case form != "text":
		return p.structured(form, list)
	case len(list) == 0:
		fmt.Fprintf(p.streams.Err, "%s has no dependencies.\n", path)
		return nil
	}
	var rows [][]string
	for _, d := range list {
		rows = append(rows, shortened([]string{d.Name, d.Version, d.Repository, d.Status}, c.Int("max-col-width")))
	}
	return table(p.streams.Out, []string{"NAME", "VERSION", "REPOSITORY", "STATUS"}, rows)
}

// shortened cuts the cells of a row to a width; 0 is any.
func shortened(row []string, width int) []string {
	for i, cell := range row {
		if runes := []rune(cell); width > 3 && len(runes) > width {
			row[i] = string(runes[:width-3]) + "..."
		}
	}
	return row
}
