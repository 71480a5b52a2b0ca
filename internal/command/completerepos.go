package command

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/source"
)

// knownRepositories are those that repo add has written.
func (p *program) knownRepositories() []resolve.Repository {
	from, err := p.repositories()
	if err != nil {
		return nil
	}
	known, err := from.Repositories()
	if err != nil {
		return nil
	}
	return known.All()
}

// loggedIn are the registries whose credentials login has kept.
func (p *program) loggedIn(ctx context.Context) completion {
	from, err := p.repositories()
	if err != nil {
		return words()
	}
	hosts, _ := from.LoggedIn(ctx) // what can't be read has none to offer
	return words(hosts...)
}

// chartsOf are the charts of a repository by the names that commands take.
func (p *program) chartsOf(repository string) []candidate {
	from, err := p.repositories()
	if err != nil {
		return nil
	}
	names, err := from.ChartNames(repository)
	if err != nil {
		return nil
	}
	out := make([]candidate, 0, len(names))
	for _, name := range names {
		out = append(out, candidate{word: repository + "/" + name})
	}
	return out
}

// chartVersions are those of the charts on the line, the newest first: of REPOSITORY/NAME by
// the cached index, of oci://HOST/PATH by the tags in the registry, which is asked.
func (p *program) chartVersions(ctx context.Context, l *line) completion {
	out := words()
	from, err := p.repositories()
	if err != nil {
		return out
	}
	for _, argument := range l.arguments {
		if resolve.IsRegistry(argument) {
			for _, tag := range tagsOf(ctx, from, argument) {
				out.candidates = append(out.candidates, candidate{word: tag.Version})
			}
			continue
		}
		repository, name, ok := strings.Cut(argument, "/")
		if !ok || isPath.MatchString(argument) {
			continue
		}
		entries, err := from.ChartVersions(repository, name)
		if err != nil {
			continue
		}
		for _, e := range entries {
			out.candidates = append(out.candidates, candidate{e.Version, strings.TrimSpace("app " + e.AppVersion)})
		}
	}
	out.directive |= cobra.ShellCompDirectiveKeepOrder
	return out
}

// tagged completes the tag of oci://HOST/PATH:TAG.
func (p *program) tagged(ctx context.Context, last string) completion {
	out := words()
	colon := strings.LastIndexByte(last, ':')
	from, err := p.repositories()
	if err != nil || colon < strings.LastIndexByte(last, '/') {
		return out
	}
	for _, tag := range tagsOf(ctx, from, last[:colon]) {
		out.candidates = append(out.candidates, candidate{word: last[:colon+1] + tag.Name})
	}
	out.directive |= cobra.ShellCompDirectiveKeepOrder
	return out
}

// tagsOf are the versions of a chart in a registry, the newest first.
func tagsOf(ctx context.Context, from *source.Sources, chart string) []resolve.Tag {
	image, _, err := resolve.ParseImage(chart)
	if err != nil {
		return nil
	}
	tags, err := from.Tags(ctx, image)
	if err != nil {
		return nil
	}
	found, _ := resolve.Search{All: true, Devel: true}.Tags(tags)
	return slices.DeleteFunc(found, func(t resolve.Tag) bool { return t.Version == "" })
}
