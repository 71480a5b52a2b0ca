package command

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// searchFlags narrow down what is found.
func searchFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "versions", Aliases: []string{"l"}, Usage: "show every version, not the newest alone"},
		&cli.StringFlag{Name: "version", Usage: "`RANGE` of versions"},
		&cli.BoolFlag{Name: "devel", Usage: "prereleases count, too, where --version is not given"},
		noResultFlag(), outputFlag(),
	}
}

func noResultFlag() cli.Flag {
	return &cli.BoolFlag{Name: "fail-on-no-result", Usage: "exit with 1 when nothing is found"}
}

// registryFlags say how a registry is spoken to. It has no index that could name
// other servers.
func registryFlags() []cli.Flag {
	return append(slices.DeleteFunc(accessFlags(), func(f cli.Flag) bool { return f.Names()[0] == "pass-credentials" }), plainHTTPFlag())
}

// searched is what flags and words look for.
func searched(c *cli.Context) resolve.Search {
	return resolve.Search{Version: c.String("version"), Devel: c.Bool("devel"), All: c.Bool("versions")}
}

// taggedVersion is the answer for machines.
type taggedVersion struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Tag     string `json:"tag"`
}

// searchTags finds the versions of a chart in a registry.
func (p *program) searchTags(c *cli.Context) error {
	args, err := arguments(c, 1, 1)
	if err != nil {
		return err
	}
	image, digest, err := resolve.ParseImage(args[0])
	switch {
	case err != nil:
		return usage("%v", err)
	case image.Tag != "" || digest != "":
		return usage("%s is one chart: leave the tag away, --version narrows it down", args[0])
	}
	form, err := format(c)
	if err != nil {
		return err
	}
	s, err := pushingSources(c)
	if err != nil {
		return err
	}
	tags, err := s.Tags(c.Context, image)
	if err != nil {
		return err
	}
	found, err := searched(c).Tags(tags)
	if err != nil {
		return usage("%v", err)
	}
	rows, cells := []taggedVersion{}, [][]string{}
	for _, tag := range found {
		rows = append(rows, taggedVersion{Name: image.String(), Version: tag.Version, Tag: tag.Name})
		cells = append(cells, []string{image.String(), tag.Version, tag.Name})
	}
	if form != "text" {
		err = p.structured(form, rows)
	} else {
		err = p.foundTable([]string{"NAME", "CHART VERSION", "TAG"}, cells)
	}
	return foundNone(c, len(rows), err)
}

// foundTable prints what was found for people.
func (p *program) foundTable(header []string, cells [][]string) error {
	if len(cells) == 0 {
		fmt.Fprintln(p.streams.Out, "No results found")
		return nil
	}
	return table(p.streams.Out, header, cells)
}

// foundNone is how a search ends that has found so much.
func foundNone(c *cli.Context, found int, err error) error {
	if err == nil && found == 0 && c.Bool("fail-on-no-result") {
		return codeError(exitError)
	}
	return err
}
