package command

import (
	"context"
	"math"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// searchHubFlags are the flags of search hub.
type searchHubFlags struct {
	foundFlags
	endpoint    string
	listRepoURL bool
	width       int
}

func (p *program) searchHubCommand() *cli.Command {
	var o searchHubFlags
	return &cli.Command{
		Name: "hub", Usage: "find charts on a hub, such as Artifact Hub", ArgsUsage: "[WORD...]",
		Description: describe("Searches a hub for charts. The hub sees the words, and nothing else of this machine.", "kubectl release search hub redis\nkubectl release search hub redis --list-repo-url -o json"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "endpoint", Destination: &o.endpoint, Usage: "`URL` of the hub", Value: "https://hub.helm.sh"},
			&cli.BoolFlag{Name: "list-repo-url", Destination: &o.listRepoURL, Usage: "show the URLs of the charts' repositories"},
			widthFlag(&o.width, 50), o.noResultFlag(), o.flag(),
		},
		Action: p.readOnly(takes(0, math.MaxInt, func(ctx context.Context, words []string) error { return p.searchHub(ctx, &o, words) })),
	}
}

// hubHit is a chart in JSON and YAML output, with Helm's keys (Helm 4.3.1, pkg/cmd/search_hub.go).
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

func (p *program) searchHub(ctx context.Context, o *searchHubFlags, words []string) error {
	form, err := o.format()
	if err != nil {
		return err
	}
	at, err := resolve.HubSearch(o.endpoint, strings.Join(words, " "))
	if err != nil {
		return usage("--endpoint: %v", err)
	}
	data, err := p.fetchInput(ctx, at, false)
	if err != nil {
		return err
	}
	hits, err := resolve.ParseHub(o.endpoint, data)
	if err != nil {
		return err
	}
	header := []string{"URL", "CHART VERSION", "APP VERSION", "DESCRIPTION"}
	if o.listRepoURL {
		header = append(header, "REPO URL")
	}
	rows, cells := []hubHit{}, [][]string{}
	for _, h := range hits {
		rows = append(rows, hubHit{h.URL, h.Version, h.AppVersion, h.Description, hubRepo{h.RepositoryURL, h.Repository}})
		cell := []string{h.URL, h.Version, h.AppVersion, h.Description, h.RepositoryURL}
		cells = append(cells, shortened(cell[:len(header)], o.width))
	}
	if form != "text" {
		err = p.structured(form, rows)
	} else {
		err = p.foundTable(header, cells)
	}
	return o.foundNone(len(rows), err)
}
