package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/terminal"
)

// showChartFlags are the flags of show. Only subcommands that declare --jsonpath have it.
type showChartFlags struct {
	chart    chartFlags
	jsonPath string
}

// showCommand prints parts of charts, byte for byte as Helm 4.3.1 does (pkg/action/show.go).
func (p *program) showCommand() *cli.Command {
	var o showChartFlags
	part := func(name, usage string, print func(*showChartFlags, io.Writer, *chart.Chart) error, flags ...cli.Flag) *cli.Command {
		return &cli.Command{
			Name: name, Usage: usage, ArgsUsage: "CHART", Flags: joined(flags, []cli.Flag{o.chart.outsideLinksFlag()}, o.chart.flags(&p.paths)),
			Description: describe("Prints it exactly as it is in the chart.", "kubectl release show "+name+" ./chart"),
			Action:      p.readOnly(takes(1, 1, func(ctx context.Context, args []string) error { return p.showChart(ctx, &o, args[0], print) })),
		}
	}
	return &cli.Command{
		Name: "show", Aliases: []string{"inspect"}, Usage: "print what a chart contains", ArgsUsage: "chart|values|readme|crds|all CHART",
		Description: describe("Prints parts of a chart.", "kubectl release show values ./chart\nkubectl release show values stable/web --version '^1'\nkubectl release show values ./chart --jsonpath '{.image.tag}'"),
		Action:      p.readOnly(only),
		Subcommands: []*cli.Command{
			part("chart", "print Chart.yaml", showMetadata),
			part("values", "print values.yaml", showValues, &cli.StringFlag{Name: "jsonpath", Destination: &o.jsonPath, Usage: "print only what this `TEMPLATE` picks from the values"}),
			part("readme", "print the README", showReadme),
			part("crds", "print the CRDs of crds/ folders", showCRDs),
			part("all", "print all of these", showAll),
		},
	}
}

func (p *program) showChart(ctx context.Context, o *showChartFlags, name string, print func(*showChartFlags, io.Writer, *chart.Chart) error) error {
	loaded, warnings, err := p.loadChart(ctx, &o.chart, name)
	if err != nil {
		return err
	}
	p.warnAll(warnings)
	var b bytes.Buffer
	if err := print(o, &b, loaded); err != nil {
		return err
	}
	_, err = terminal.Content(p.raw.Out).Write(b.Bytes())
	return err
}

func showMetadata(_ *showChartFlags, w io.Writer, c *chart.Chart) error {
	text, err := yaml.Marshal(c.Metadata)
	if err != nil {
		return fmt.Errorf("print Chart.yaml of %s: %w", c.Name(), err)
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}

func showValues(o *showChartFlags, w io.Writer, loaded *chart.Chart) error {
	if template := o.jsonPath; template != "" {
		path := jsonpath.New("values").AllowMissingKeys(true)
		if err := path.Parse(template); err != nil {
			return usage("--jsonpath %s: %v", template, err)
		}
		if err := path.Execute(w, loaded.Values); err != nil {
			return fmt.Errorf("--jsonpath %s: %w", template, err)
		}
		return nil
	}
	for _, f := range loaded.Raw {
		if f.Name == "values.yaml" {
			fmt.Fprintf(w, "%s\n", f.Data)
		}
	}
	return nil
}

func showReadme(_ *showChartFlags, w io.Writer, c *chart.Chart) error {
	if f := readme(c); f != nil {
		fmt.Fprintf(w, "%s\n", f.Data)
	}
	return nil
}

// readme returns the first file with a name that Helm 4.3.1 knows (pkg/action/show.go, findReadme),
// or nil.
func readme(c *chart.Chart) *chart.File {
	for _, f := range c.Files {
		switch strings.ToLower(f.Name) {
		case "readme.md", "readme.txt", "readme":
			return f
		}
	}
	return nil
}

func showCRDs(_ *showChartFlags, w io.Writer, c *chart.Chart) error {
	for _, crd := range c.CRDs() {
		if !bytes.HasPrefix(crd.Data, []byte("---")) {
			fmt.Fprintln(w, "---")
		}
		fmt.Fprintf(w, "%s\n", crd.Data)
	}
	return nil
}

func showAll(o *showChartFlags, w io.Writer, loaded *chart.Chart) error {
	if err := showMetadata(o, w, loaded); err != nil {
		return err
	}
	if loaded.Values != nil {
		fmt.Fprintln(w, "---")
		if err := showValues(o, w, loaded); err != nil {
			return err
		}
	}
	if readme(loaded) != nil {
		fmt.Fprintln(w, "---")
		if err := showReadme(o, w, loaded); err != nil {
			return err
		}
	}
	return showCRDs(o, w, loaded)
}
