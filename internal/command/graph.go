package command

import (
	"context"

	"github.com/urfave/cli/v2"
)

func (p *program) planGraphCommand() *cli.Command {
	var o chartPlanFlags
	return &cli.Command{
		Name: "graph", Usage: "show a plan as a picture", ArgsUsage: "FILE | NAME CHART",
		Description: describe("Shows the stages of a plan as a Mermaid flowchart, or for Graphviz: of the plan saved\nin FILE, for which no cluster is needed, or of installing or upgrading NAME with CHART.",
			"kubectl release plan graph web.plan\nkubectl release plan graph web ./chart -f prod.yaml -o dot"),
		Flags: joined([]cli.Flag{
			&cli.StringFlag{Name: "output", Destination: &o.show.output, Aliases: []string{"o"}, Usage: oneOf(graphOutputs), Value: "mermaid", Category: planCategory},
			showSecretsFlag(&p.showSecrets),
		}, o.files.opening(), o.planning(&p.paths)),
		Action: p.readOnly(takes(1, 2, func(ctx context.Context, args []string) error {
			if form := o.show.output; form != "mermaid" && form != "dot" {
				return usage("-o %s: must be mermaid or dot", form)
			}
			if len(args) == 2 {
				return p.planChart(ctx, &o, args[0], args[1])
			}
			if err := p.checkSaved(o.planning(&p.paths)); err != nil {
				return err
			}
			saved, err := p.readPlan(&o.files, args[0])
			if err != nil {
				return err
			}
			return p.render(&o.show, p.raw.Out, saved)
		})),
	}
}
