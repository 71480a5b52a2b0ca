package command

import (
	"fmt"
	"runtime"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/plan"
)

func (p *program) versionCommand() *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "print the version",
		Description: describe("Prints the program's version and that of its plan format.", "kubectl release version -o json"),
		Flags:       []cli.Flag{outputFlag(), &cli.BoolFlag{Name: "short", Usage: "only the version"}},
		Action: p.readOnly(func(c *cli.Context) error {
			if _, err := arguments(c, 0, 0); err != nil {
				return err
			}
			f, err := format(c)
			if err != nil {
				return err
			}
			switch {
			case f != "text":
				return p.structured(f, map[string]string{
					"version": Version, "planFormat": plan.FormatVersion, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
				})
			case c.Bool("short"):
				fmt.Fprintln(p.streams.Out, Version)
			default:
				fmt.Fprintf(p.streams.Out, "kubectl-release %s, plan format %s, %s %s/%s\n", Version, plan.FormatVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			}
			return nil
		}),
	}
}
