package command

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

func (p *program) searchHubCommand() *cli.Command {
	return &cli.Command{
		Name: "hub", Usage: "find charts on a hub, such as Artifact Hub", ArgsUsage: "[WORD...]",
		Description: describe("Asks a hub for charts. It sees the words, and nothing else of this machine.", "kubectl release search hub redis\nkubectl release search hub redis --list-repo-url -o json"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "endpoint", Usage: "`URL` of the hub", Value: "https://hub.helm.sh"},
			&cli.BoolFlag{Name: "list-repo-url", Usage: "show the URLs of the charts' repositories"},
			widthFlag(), noResultFlag(), outputFlag(),
		},
		Action: p.readOnly(p.searchHub),
	}
}

// hubHit is the answer for machines, with Helm's keys.
type hubHit struct {
	URL         string  `json:"url"`
	Version     string  `json:"version"`
	AppVersion  string  `json:"app_version"`
	Description string  `json:"description"`
	Repository  hubRepo `json:"repository"`
}

type hubRepo struct {
	URL  string `json:"url"`
	Name string `json:"name"`
}

func (p *program) searchHub(c *cli.Context) error {
	form, err := format(c)
	if err != nil {
		return err
	}
	endpoint := c.String("endpoint")
	at, err := resolve.HubSearch(endpoint, strings.Join(c.Args().Slice(), " "))
	if err != nil {
		return usage("--endpoint: %v", err)
	}
	data, err := fetchInput(c, at, false)
	if err != nil {
		return err
	}
	hits, err := resolve.ParseHub(endpoint, data)
	if err != nil {
		return err
	}
	header := []string{"URL", "CHART VERSION", "APP VERSION", "DESCRIPTION"}
	if c.Bool("list-repo-url") {
		header = append(header, "REPO URL")
	}
	rows, cells := []hubHit{}, [][]string{}
	for _, h := range hits {
		rows = append(rows, hubHit{h.URL, h.Version, h.AppVersion, h.Description, hubRepo{h.RepositoryURL, h.Repository}})
		cell := []string{h.URL, h.Version, h.AppVersion, h.Description, h.RepositoryURL}
		cells = append(cells, shortened(cell[:len(header)], c.Int("max-col-width")))
	}
	if form != "text" {
		err = p.structured(form, rows)
	} else {
		err = p.foundTable(header, cells)
	}
	return foundNone(c, len(rows), err)
}
