package completion

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/source"
)

// knownRepositories returns the repositories that repo add has stored.
func (f finder) knownRepositories() []resolve.Repository {
	from, err := f.from.Charts()
	if err != nil {
		return nil
	}
	known, err := from.Repositories()
	if err != nil {
		return nil
	}
	return known.All()
}

// loggedIn returns the registries with stored credentials.
func (f finder) loggedIn(ctx context.Context) Answer {
	from, err := f.from.Charts()
	if err != nil {
		return words()
	}
	hosts, _ := from.LoggedIn(ctx) // if no credentials can be read, there is nothing to offer
	return words(hosts...)
}

// chartsOf returns the charts of a repository as REPOSITORY/NAME.
func (f finder) chartsOf(repository string) []Candidate {
	from, err := f.from.Charts()
	if err != nil {
		return nil
	}
	names, err := from.ChartNames(repository)
	if err != nil {
		return nil
	}
	out := make([]Candidate, 0, len(names))
	for _, name := range names {
		out = append(out, Candidate{Word: repository + "/" + name})
	}
	return out
}

// chartVersions returns the versions of the charts on the line, newest first: for
// REPOSITORY/NAME from the cached index, for oci://HOST/PATH from the tags that the registry
// returns.
func (f finder) chartVersions(ctx context.Context, l *Line) Answer {
	out := words()
	from, err := f.from.Charts()
	if err != nil {
		return out
	}
	for _, argument := range l.Arguments {
		if resolve.IsRegistry(argument) {
			for _, tag := range tagsOf(ctx, from, argument) {
				out.candidates = append(out.candidates, Candidate{Word: tag.Version})
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
			out.candidates = append(out.candidates, Candidate{e.Version, strings.TrimSpace("app " + e.AppVersion)})
		}
	}
	out.directive |= cobra.ShellCompDirectiveKeepOrder
	return out
}

// tagged completes the tag of oci://HOST/PATH:TAG.
func (f finder) tagged(ctx context.Context, last string) Answer {
	out := words()
	colon := strings.LastIndexByte(last, ':')
	from, err := f.from.Charts()
	if err != nil || colon < strings.LastIndexByte(last, '/') {
		return out
	}
	for _, tag := range tagsOf(ctx, from, last[:colon]) {
		out.candidates = append(out.candidates, Candidate{Word: last[:colon+1] + tag.Name})
	}
	out.directive |= cobra.ShellCompDirectiveKeepOrder
	return out
}

// tagsOf returns the versions of a chart in a registry, newest first.
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
