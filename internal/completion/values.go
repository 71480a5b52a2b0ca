package completion

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/helptext"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/plan"
)

// flagValues returns the possible values of the flag that is being completed.
func (f finder) flagValues(ctx context.Context, l *Line) Answer {
	name := l.flag.Names()[0]
	if few := f.from.Values(name, l); few != nil {
		return words(few...)
	}
	switch name {
	case "deny":
		return inList(l.last, plan.Risks())
	case "only":
		return words(kindNames()...)
	case "namespace":
		return Answer{candidates: f.from.Namespaces(ctx), directive: cobra.ShellCompDirectiveNoFileComp}
	case "context", "cluster", "user":
		return Answer{candidates: f.from.Kubeconfig(name), directive: cobra.ShellCompDirectiveNoFileComp}
	case "revision":
		return f.revisions(ctx, l)
	case "against":
		out, charts := f.revisions(ctx, l), f.chartNames(ctx, l)
		out.candidates = append(out.candidates, charts.candidates...)
		out.directive = charts.directive // a value that is neither one may be a file
		return out
	case "version", "against-version":
		return f.chartVersions(ctx, l)
	}
	return filesFor(l.flag)
}

// inList completes the last word of a comma-separated list.
func inList[T ~string](given string, all []T) Answer {
	before := given[:strings.LastIndexByte(given, ',')+1]
	out := words()
	for _, w := range all {
		if !slices.Contains(strings.Split(before, ","), string(w)) {
			out.candidates = append(out.candidates, Candidate{Word: before + string(w)})
		}
	}
	return out
}

func kindNames() []string {
	var names []string
	for _, k := range kinds.All() {
		names = append(names, k.Kind)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// filesFor leaves files and folders to the shell if the flag's help says that its value is one.
func filesFor(flag cli.Flag) Answer {
	out := words()
	doc, ok := flag.(cli.DocGenerationFlag)
	if !ok {
		return out
	}
	switch placeholder, _ := helptext.Placeholder(doc.GetUsage()); placeholder {
	case "FILE", "PROGRAM":
		out.directive = cobra.ShellCompDirectiveDefault
	case "FOLDER", "DIR":
		out.directive = cobra.ShellCompDirectiveFilterDirs
	}
	return out
}
