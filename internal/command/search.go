package command

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

func (p *program) searchCommand() *cli.Command {
	return &cli.Command{
		Name: "search", Usage: "find charts, and their versions in a registry", ArgsUsage: "repo|hub|oci://HOST/PATH",
		Description: describe("Finds charts in the indexes of the repositories that are known, or on a hub; or lists the\nversions of a chart in a registry, with --versions all of its tags.", "kubectl release search repo redis\nkubectl release search oci://ghcr.io/acme/charts/web --versions"),
		Flags:       joined(searchFlags(), registryFlags(), pathFlags()),
		Action: p.readOnly(func(c *cli.Context) error {
			if resolve.IsRegistry(c.Args().First()) {
				return p.searchTags(c)
			}
			if c.Args().Present() {
				return unknownCommand(c.Command.Subcommands, c.Args().First(), c.Command.HelpName)
			}
			return cli.ShowSubcommandHelp(c)
		}),
		Subcommands: []*cli.Command{p.searchRepoCommand(), p.searchHubCommand()},
	}
}

func (p *program) searchRepoCommand() *cli.Command {
	return &cli.Command{
		Name: "repo", Usage: "find charts in the repositories that are known", ArgsUsage: "[WORD...]",
		Description: describe("Looks for words in the names, descriptions and keywords of charts, in the indexes that repo\nupdate has fetched. Nobody is asked.", "kubectl release search repo redis\nkubectl release search repo stable/web --versions"),
		Flags: joined([]cli.Flag{
			&cli.BoolFlag{Name: "regexp", Aliases: []string{"r"}, Usage: "the words are a regular expression"},
			widthFlag(),
		}, searchFlags(), pathFlags()),
		Action: p.readOnly(p.searchRepo),
	}
}

func widthFlag() cli.Flag {
	return &cli.IntFlag{Name: "max-col-width", Usage: "`WIDTH` of a column; 0 is any", Value: 50}
}

// hit is the answer for machines, with Helm's keys.
type hit struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	AppVersion  string `json:"app_version"`
	Description string `json:"description"`
}

func (p *program) searchRepo(c *cli.Context) error {
	form, err := format(c)
	if err != nil {
		return err
	}
	s := searched(c)
	s.Words, s.Regexp = strings.Join(c.Args().Slice(), " "), c.Bool("regexp")
	hits, err := p.search(c, s)
	if err != nil {
		return err
	}
	rows, cells := []hit{}, [][]string{}
	for _, h := range hits {
		row := hit{Name: h.Name, Version: h.Version, AppVersion: h.AppVersion, Description: h.Description}
		rows = append(rows, row)
		cells = append(cells, shortened([]string{row.Name, row.Version, row.AppVersion, row.Description}, c.Int("max-col-width")))
	}
	if form != "text" {
		err = p.structured(form, rows)
	} else {
		err = p.foundTable([]string{"NAME", "CHART VERSION", "APP VERSION", "DESCRIPTION"}, cells)
	}
	return foundNone(c, len(rows), err)
}

// search looks into the indexes of all repositories. One that can't be read is told,
// and hides no others.
func (p *program) search(c *cli.Context, s resolve.Search) ([]resolve.Hit, error) {
	from, err := repositories(c)
	if err != nil {
		return nil, err
	}
	known, err := from.Repositories()
	if err != nil {
		return nil, err
	}
	if len(known.All()) == 0 {
		return nil, fmt.Errorf("there are no repositories: add one with %s", p.clusterless("repo", "add"))
	}
	var hits []resolve.Hit
	for _, r := range known.All() {
		index, err := from.Index(r.Name)
		if err != nil {
			p.warn(err.Error())
			continue
		}
		found, err := s.Find(r.Name, index)
		if err != nil {
			return nil, usage("%v", err)
		}
		hits = append(hits, found...)
	}
	resolve.SortHits(hits)
	return hits, nil
}
