package command

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/dependency"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// dependencyListFlags are the flags of dependency list.
type dependencyListFlags struct {
	outputFlags
	fetch fetchFlags
	width int
}

func (p *program) dependencyListCommand() *cli.Command {
	var o dependencyListFlags
	return &cli.Command{
		Name: "list", Aliases: []string{"ls"}, Usage: "list the dependencies of a chart and their status", ArgsUsage: "[CHART]",
		Description: describe(`Lists the dependencies of a folder or an archive. STATUS is ok, unpacked, missing, wrong
version, wrong digest (not the archive in the lock), invalid version, corrupt, misnamed or
too many matches.`, "kubectl release dependency list ./web"),
		Flags: []cli.Flag{
			widthFlag(&o.width, 80), o.flag(), o.fetch.outsideLinksFlag(),
		},
		Action: p.readOnly(takes(0, 1, func(_ context.Context, args []string) error { return p.dependencyList(&o, folder(args)) })),
	}
}

func (p *program) dependencyList(o *dependencyListFlags, path string) error {
	form, err := o.format()
	if err != nil {
		return err
	}
	list, warnings, err := dependency.List(path, o.fetch.load)
	if err != nil {
		return err
	}
	p.warnAll(warnings)
	for i := range list {
		list[i].Repository = resolve.Public(list[i].Repository)
	}
	switch {
	case form != "text":
		return p.structured(form, list)
	case len(list) == 0:
		fmt.Fprintf(p.streams.Err, "%s has no dependencies.\n", path)
		return nil
	}
	var rows [][]string
	for _, d := range list {
		rows = append(rows, shortened([]string{d.Name, d.Version, d.Repository, d.Status}, o.width))
	}
	return table(p.streams.Out, []string{"NAME", "VERSION", "REPOSITORY", "STATUS"}, rows)
}

// shortened cuts the cells of a row to a width; 0 means no limit.
func shortened(row []string, width int) []string {
	for i, cell := range row {
		if runes := []rune(cell); width > 3 && len(runes) > width {
			row[i] = string(runes[:width-3]) + "..."
		}
	}
	return row
}
