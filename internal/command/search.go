package command

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

func (p *program) searchCommand() *cli.Command {
	var o searchFlags
	var access accessFlags
	return &cli.Command{
		Name: "search", Usage: "find charts, and their versions in a registry", ArgsUsage: "repo|hub|oci://HOST/PATH",
		Description: describe(`Finds charts in the indexes of configured repositories or on a hub, or lists the versions
of a chart in a registry; with --versions, all of its tags.`, `kubectl release search repo redis
kubectl release search oci://ghcr.io/acme/charts/web --versions`),
		Flags: joined(o.flags(), registryFlags(&access), p.paths.flags()),
		Action: p.readOnly(func(c *cli.Context) error {
			if resolve.IsRegistry(c.Args().First()) {
				return takes(1, 1, func(ctx context.Context, args []string) error { return p.searchTags(ctx, &o, &access, args[0]) })(c)
			}
			return only(c)
		}),
		Subcommands: []*cli.Command{p.searchRepoCommand(), p.searchHubCommand()},
	}
}

// searchRepoFlags are the flags of search repo.
type searchRepoFlags struct {
	searchFlags
	regexp bool
	width  int
}

func (p *program) searchRepoCommand() *cli.Command {
	var o searchRepoFlags
	return &cli.Command{
		Name: "repo", Usage: "find charts in configured repositories", ArgsUsage: "[WORD...]",
		Description: describe("Searches the names, descriptions and keywords of charts, in the indexes that repo update has\nfetched. No server is contacted.", "kubectl release search repo redis\nkubectl release search repo stable/web --versions"),
		Flags: joined([]cli.Flag{
			&cli.BoolFlag{Name: "regexp", Destination: &o.regexp, Aliases: []string{"r"}, Usage: "treat the words as a regular expression"},
			widthFlag(&o.width, 50),
		}, o.flags(), p.paths.flags()),
		Action: p.readOnly(takes(0, math.MaxInt, func(_ context.Context, words []string) error { return p.searchRepo(&o, words) })),
	}
}

func widthFlag(to *int, width int) cli.Flag {
	return &cli.IntFlag{Name: "max-col-width", Destination: to, Usage: "`WIDTH` of a column; 0 is unlimited", Value: width}
}

// hit is a chart in JSON and YAML output, with Helm's keys (Helm 4.3.1, pkg/cmd/search_repo.go).
type hit struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	AppVersion  string `json:"app_version"`
	Description string `json:"description"`
}

func (p *program) searchRepo(o *searchRepoFlags, words []string) error {
	form, err := o.format()
	if err != nil {
		return err
	}
	s := o.Search
	s.Words, s.Regexp = strings.Join(words, " "), o.regexp
	hits, err := p.search(s)
	if err != nil {
		return err
	}
	rows, cells := []hit{}, [][]string{}
	for _, h := range hits {
		row := hit{Name: h.Name, Version: h.Version, AppVersion: h.AppVersion, Description: h.Description}
		rows = append(rows, row)
		cells = append(cells, shortened([]string{row.Name, row.Version, row.AppVersion, row.Description}, o.width))
	}
	if form != "text" {
		err = p.structured(form, rows)
	} else {
		err = p.foundTable([]string{"NAME", "CHART VERSION", "APP VERSION", "DESCRIPTION"}, cells)
	}
	return o.foundNone(len(rows), err)
}

// search searches the indexes of all repositories. It warns about an index that cannot be read and
// searches the others.
func (p *program) search(s resolve.Search) ([]resolve.Hit, error) {
	from, err := p.repositories()
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
