package command

import (
	"github.com/urfave/cli/v2"
)

func (p *program) planGraphCommand() *cli.Command {
	output := &cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: oneOf(graphOutputs), Value: "mermaid", Category: planCategory}
	return &cli.Command{
		Name: "graph", Usage: "show a plan as a picture", ArgsUsage: "FILE | NAME CHART",
		Description: describe("Shows the stages of a plan as a Mermaid flowchart, or for Graphviz: of the plan saved\nin FILE, for which no cluster is needed, or of installing or upgrading NAME with CHART.",
			"kubectl release plan graph web.plan\nkubectl release plan graph web ./chart -f prod.yaml -o dot"),
		Flags: joined([]cli.Flag{output, showSecretsFlag()}, openingFlags(), againstFlags(), valuesFlags(), reuseFlags(), renderFlags(), deployFlags(), chartFlags()),
		Action: p.readOnly(func(c *cli.Context) error {
			args, err := arguments(c, 1, 2)
			if err != nil {
				return err
			}
			if o := c.String("output"); o != "mermaid" && o != "dot" {
				return usage("-o %s: a graph is mermaid or dot", o)
			}
			if len(args) == 2 {
				return p.planChart(c, args[0], args[1])
			}
			saved, err := p.readPlan(c, args[0])
			if err != nil {
				return err
			}
			return p.render(c, p.raw.Out, saved)
		}),
	}
}
