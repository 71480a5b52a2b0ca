package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
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

// chartVersions are those of the chart REPOSITORY/NAME on the line, the newest first.
func (p *program) chartVersions(l *line) completion {
	out := words()
	from, err := p.repositories()
	if err != nil {
		return out
	}
	for _, argument := range l.arguments {
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
