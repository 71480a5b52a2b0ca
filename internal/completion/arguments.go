package completion

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// placeholders returns what the usage line calls the next argument, such as CHART in "NAME CHART",
// or FILE and NAME in "FILE | NAME CHART".
func (l *Line) placeholders(generated bool) []string {
	if l.Command == nil {
		return nil
	}
	var out []string
	for usage := range strings.SplitSeq(l.Command.ArgsUsage, " | ") {
		all := strings.Fields(usage)
		n := len(l.Arguments)
		switch {
		case len(all) == 0:
			continue
		case generated && all[0] != "CHART": // the release's name is generated, so NAME is not typed
			n++
		case strings.HasPrefix(all[0], "[") && len(all) == 2 && n == 0:
			out = append(out, strings.Trim(all[1], "[]"))
		}
		if last := all[len(all)-1]; n >= len(all) && strings.ContainsAny(last, ".…") {
			n = len(all) - 1
		}
		if n < len(all) {
			out = append(out, strings.TrimRight(strings.Trim(all[n], "[]"), ".…"))
		}
	}
	return out
}

// namesOfChoice matches usage lines such as "bash|zsh|fish".
var namesOfChoice = regexp.MustCompile(`^[a-z|]+$`)

// argument returns what the next argument can be.
func (f finder) argument(ctx context.Context, l *Line) Answer {
	out := words()
	for _, placeholder := range l.placeholders(l.has("generate-name") || l.has("name-template")) {
		more := f.meant(ctx, l, placeholder)
		out.candidates = append(out.candidates, more.candidates...)
		if more.directive != cobra.ShellCompDirectiveNoFileComp {
			out.directive = more.directive
		}
	}
	return out
}

// meant returns the completions for a placeholder.
func (f finder) meant(ctx context.Context, l *Line, placeholder string) Answer {
	switch {
	case placeholder == "NAME":
		return f.names(ctx, l)
	case placeholder == "REVISION":
		return f.revisions(ctx, l)
	case placeholder == "HOST" && l.Command.Name == "logout":
		return f.loggedIn(ctx)
	case placeholder == "CHART":
		return f.chartNames(ctx, l)
	case placeholder == "CHART.tgz":
		out := words("tgz")
		out.directive = cobra.ShellCompDirectiveFilterFileExt
		return out
	case placeholder == "FILE":
		return Answer{}
	case placeholder == "FOLDER":
		return Answer{directive: cobra.ShellCompDirectiveFilterDirs}
	case namesOfChoice.MatchString(placeholder) && len(l.Command.Subcommands) == 0:
		return words(strings.Split(placeholder, "|")...)
	}
	return words()
}

// names returns the names of releases or, for the commands that take them, of repositories or
// settings.
func (f finder) names(ctx context.Context, l *Line) Answer {
	out := words()
	switch path := strings.Join(l.Path, " "); path {
	case "install", "template", "repo add": // the name is a new one
	case "repo update", "repo remove":
		for _, r := range f.knownRepositories() {
			out.candidates = append(out.candidates, Candidate{r.Name, resolve.Public(r.URL)})
		}
	case "env":
		out.candidates = f.from.Settings()
	default:
		for _, r := range f.from.Releases(ctx) {
			if !slices.Contains(l.Arguments, r.Word) {
				out.candidates = append(out.candidates, r)
			}
		}
	}
	return out
}

// revisions returns the revisions of the release on the line.
func (f finder) revisions(ctx context.Context, l *Line) Answer {
	out := words()
	if len(l.Arguments) == 0 {
		return out
	}
	if out.candidates = f.from.Revisions(ctx, l.Arguments[0]); len(out.candidates) > 0 {
		out.directive |= cobra.ShellCompDirectiveKeepOrder
	}
	return out
}

// isPath matches the beginning of words that can only be paths.
var isPath = regexp.MustCompile(`^(\.|/|~)`)

// chartNames returns local folders and archives, repositories and their charts, and for a registry
// the tags of the chart. Words that can only be paths are left to the shell.
func (f finder) chartNames(ctx context.Context, l *Line) Answer {
	last := l.last
	if resolve.IsRegistry(last) {
		return f.tagged(ctx, last)
	}
	if isPath.MatchString(last) || l.has("repo") {
		return Answer{}
	}
	var out Answer
	repository, _, named := strings.Cut(last, "/")
	for _, r := range f.knownRepositories() {
		if !named {
			out.candidates = append(out.candidates, Candidate{r.Name + "/", resolve.Public(r.URL)})
		} else if r.Name == repository {
			out.candidates = append(out.candidates, f.chartsOf(r.Name)...)
		}
	}
	for _, path := range localCharts(last) {
		out.candidates = append(out.candidates, Candidate{Word: path})
	}
	out = out.beginning(last)
	if slices.ContainsFunc(out.candidates, func(w Candidate) bool { return strings.HasSuffix(w.Word, "/") }) {
		out.directive = cobra.ShellCompDirectiveNoSpace
	}
	return out
}

// localCharts returns the folders with a Chart.yaml and the archives whose paths begin with the
// given text.
func localCharts(beginning string) []string {
	var out []string
	found, _ := filepath.Glob(globbed.Replace(beginning) + "*")
	for _, path := range found {
		if chartload.IsChart(path) {
			out = append(out, filepath.ToSlash(path))
		}
	}
	return out
}

// globbed escapes the special characters of glob patterns.
var globbed = strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`)
