package command

import (
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// foundFlags say how search results are shown.
type foundFlags struct {
	outputFlags
	failOnNone bool
}

func (o *foundFlags) noResultFlag() cli.Flag {
	return &cli.BoolFlag{Name: "fail-on-no-result", Destination: &o.failOnNone, Usage: "exit with 1 if nothing is found"}
}

// searchFlags narrow a search.
type searchFlags struct {
	foundFlags
	resolve.Search
}

func (o *searchFlags) flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "versions", Destination: &o.All, Aliases: []string{"l"}, Usage: "show every version, not only the newest"},
		&cli.StringFlag{Name: "version", Destination: &o.Version, Usage: "`RANGE` of versions"},
		&cli.BoolFlag{Name: "devel", Destination: &o.Devel, Usage: "consider prereleases, too, if --version is not given"},
		o.noResultFlag(), o.flag(),
	}
}

// registryFlags returns the flags for the connection to a registry. --pass-credentials is not among
// them: a registry has no index that could name other servers.
func registryFlags(access *accessFlags) []cli.Flag {
	return append(slices.DeleteFunc(access.flags(), func(f cli.Flag) bool { return f.Names()[0] == "pass-credentials" }), access.plainHTTPFlag())
}

// taggedVersion is a version in JSON and YAML output.
type taggedVersion struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Tag     string `json:"tag"`
}

// searchTags finds the versions of a chart in a registry.
func (p *program) searchTags(ctx context.Context, o *searchFlags, access *accessFlags, name string) error {
	image, digest, err := resolve.ParseImage(name)
	switch {
	case err != nil:
		return usage("%v", err)
	case image.Tag != "" || digest != "":
		return usage("%s is one chart: leave out the tag; --version narrows it down", name)
	}
	form, err := o.format()
	if err != nil {
		return err
	}
	s, err := p.registry(access)
	if err != nil {
		return err
	}
	tags, err := s.Tags(ctx, image)
	if err != nil {
		return err
	}
	found, err := o.Tags(tags)
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
	return o.foundNone(len(rows), err)
}

// foundTable prints search results as a table.
func (p *program) foundTable(header []string, cells [][]string) error {
	if len(cells) == 0 {
		fmt.Fprintln(p.streams.Out, "No results found")
		return nil
	}
	return table(p.streams.Out, header, cells)
}

// foundNone returns err or, if nothing was found and --fail-on-no-result is given, exit code 1.
func (o *foundFlags) foundNone(found int, err error) error {
	if err == nil && found == 0 && o.failOnNone {
		return codeError(exitError)
	}
	return err
}
