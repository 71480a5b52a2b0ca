package command

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// placeholders returns what the usage line calls the next argument, such as CHART in "NAME CHART",
// or FILE and NAME in "FILE | NAME CHART".
func (l *line) placeholders(generated bool) []string {
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
func (p *program) argument(ctx context.Context, l *line) completion {
	out := words()
	for _, placeholder := range l.placeholders(l.has("generate-name") || l.has("name-template")) {
		more := p.meant(ctx, l, placeholder)
		out.candidates = append(out.candidates, more.candidates...)
		if more.directive != cobra.ShellCompDirectiveNoFileComp {
			out.directive = more.directive
		}
	}
	return out
}

// meant returns the completions for a placeholder.
func (p *program) meant(ctx context.Context, l *line, placeholder string) completion {
	switch {
	case placeholder == "NAME":
		return p.names(ctx, l)
	case placeholder == "REVISION":
		return p.revisions(ctx, l)
	case placeholder == "HOST" && l.Command.Name == "logout":
		return p.loggedIn(ctx)
	case placeholder == "CHART":
		return p.chartNames(ctx, l)
	case placeholder == "CHART.tgz":
		out := words("tgz")
		out.directive = cobra.ShellCompDirectiveFilterFileExt
		return out
	case placeholder == "FILE":
		return completion{}
	case placeholder == "FOLDER":
		return completion{directive: cobra.ShellCompDirectiveFilterDirs}
	case namesOfChoice.MatchString(placeholder) && len(l.Command.Subcommands) == 0:
		return words(strings.Split(placeholder, "|")...)
	}
	return words()
}

// names returns the names of releases or, for the commands that take them, of repositories or
// settings.
func (p *program) names(ctx context.Context, l *line) completion {
	out := words()
	switch path := strings.Join(l.Path, " "); path {
	case "install", "template", "repo add": // the name is a new one
	case "repo update", "repo remove":
		for _, r := range p.knownRepositories() {
			out.candidates = append(out.candidates, candidate{r.Name, resolve.Public(r.URL)})
		}
	case "env":
		for name := range p.settings() {
			out.candidates = append(out.candidates, candidate{word: name})
		}
		slices.SortFunc(out.candidates, func(a, b candidate) int { return cmp.Compare(a.word, b.word) })
	default:
		s, err := p.connect()
		if err != nil {
			return out
		}
		found, _ := s.store.List(ctx, releasestore.Query{Namespace: s.namespace}) // on error, it still returns what it could read
		for _, r := range found {
			if !slices.Contains(l.Arguments, r.Name) {
				out.candidates = append(out.candidates, candidate{r.Name, r.ChartLabel() + ", " + string(r.Info.Status)})
			}
		}
	}
	return out
}

// revisions returns the revisions of the release on the line, newest first.
func (p *program) revisions(ctx context.Context, l *line) completion {
	out := words()
	if len(l.Arguments) == 0 {
		return out
	}
	s, err := p.connect()
	if err != nil {
		return out
	}
	history, _, err := s.engine.History(ctx, s.key(l.Arguments[0]))
	if err != nil {
		return out
	}
	for _, r := range slices.Backward(history) {
		out.candidates = append(out.candidates, candidate{strconv.Itoa(r.Version), strings.Join([]string{r.ChartLabel(), string(r.Info.Status), localTime(r.Info.LastDeployed)}, ", ")})
	}
	out.directive |= cobra.ShellCompDirectiveKeepOrder
	return out
}

// isPath matches the beginning of words that can only be paths.
var isPath = regexp.MustCompile(`^(\.|/|~)`)

// chartNames returns local folders and archives, repositories and their charts, and for a registry
// the tags of the chart. Words that can only be paths are left to the shell.
func (p *program) chartNames(ctx context.Context, l *line) completion {
	last := l.last
	if resolve.IsRegistry(last) {
		return p.tagged(ctx, last)
	}
	if isPath.MatchString(last) || l.has("repo") {
		return completion{}
	}
	var out completion
	repository, _, named := strings.Cut(last, "/")
	for _, r := range p.knownRepositories() {
		if !named {
			out.candidates = append(out.candidates, candidate{r.Name + "/", resolve.Public(r.URL)})
		} else if r.Name == repository {
			out.candidates = append(out.candidates, p.chartsOf(r.Name)...)
		}
	}
	for _, path := range localCharts(last) {
		out.candidates = append(out.candidates, candidate{word: path})
	}
	out = out.beginning(last)
	if slices.ContainsFunc(out.candidates, func(w candidate) bool { return strings.HasSuffix(w.word, "/") }) {
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
		if isChart(path) {
			out = append(out, filepath.ToSlash(path))
		}
	}
	return out
}

// isChart reports whether a path is a folder with a Chart.yaml or an archive.
func isChart(path string) bool {
	_, err := os.Stat(filepath.Join(path, "Chart.yaml"))
	return err == nil || filepath.Ext(path) == ".tgz"
}

// globbed escapes the special characters of glob patterns.
var globbed = strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`)
