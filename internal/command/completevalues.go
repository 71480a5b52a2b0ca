package command

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/urfave/cli/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/findings"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/plan"
)

// choices are the values of the flags that accept only a few values.
var choices = map[string][]string{
	"cascade":     {"background", "foreground", "orphan"},
	"color":       {"auto", "always", "never"},
	"dry-run":     {"none", "client", "server"},
	"server-side": {"auto", "true", "false"},
	"wait":        {"true", "false", "watcher", "hookOnly", "legacy"},
}

// outputs, planOutputs and graphOutputs are the values of -o: for records, lists and runs, for plans, and
// for plan graph. Those for the plan of a set are setOutputs.
var (
	outputs      = []string{"text", "json", "yaml"}
	planOutputs  = append([]string{"text", "json", "yaml", "markdown", "summary", "html", "mermaid", "dot"}, findings.Formats()...)
	graphOutputs = []string{"mermaid", "dot"}
)

// flagValues returns the possible values of the flag that is being completed.
func (p *program) flagValues(ctx context.Context, l *line) completion {
	name := l.flag.Names()[0]
	if few, ok := choices[name]; ok {
		return words(few...)
	}
	switch name {
	case "output":
		return words(l.outputs()...)
	case "deny":
		return inList(l.last, plan.Risks())
	case "only":
		return words(kindNames()...)
	case "namespace":
		return p.namespaces(ctx)
	case "context", "cluster", "user":
		return p.fromKubeconfig(name)
	case "revision":
		return p.revisions(ctx, l)
	case "against":
		out, charts := p.revisions(ctx, l), p.chartNames(ctx, l)
		out.candidates = append(out.candidates, charts.candidates...)
		out.directive = charts.directive // a value that is neither one may be a file
		return out
	case "version", "against-version":
		return p.chartVersions(ctx, l)
	}
	return filesFor(l.flag)
}

// outputs returns the values of -o for the command on the line.
func (l *line) outputs() []string {
	switch {
	case l.Command != nil && l.Command.Name == "graph":
		return graphOutputs
	case l.Known["changed-since"] != nil:
		return setOutputs
	case l.Known["detailed-exitcode"] != nil || l.Known["full"] != nil:
		return planOutputs
	}
	return outputs
}

// inList completes the last word of a comma-separated list.
func inList[T ~string](given string, all []T) completion {
	before := given[:strings.LastIndexByte(given, ',')+1]
	out := words()
	for _, w := range all {
		if !slices.Contains(strings.Split(before, ","), string(w)) {
			out.candidates = append(out.candidates, candidate{word: before + string(w)})
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
func filesFor(flag cli.Flag) completion {
	out := words()
	doc, ok := flag.(cli.DocGenerationFlag)
	if !ok {
		return out
	}
	switch placeholder, _ := quoted(doc.GetUsage()); placeholder {
	case "FILE", "PROGRAM":
		out.directive = cobra.ShellCompDirectiveDefault
	case "FOLDER", "DIR":
		out.directive = cobra.ShellCompDirectiveFilterDirs
	}
	return out
}

func (p *program) namespaces(ctx context.Context) completion {
	out := words()
	s, err := p.connect()
	if err != nil {
		return out
	}
	found, err := s.cluster.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return out
	}
	for _, n := range found.Items {
		out.candidates = append(out.candidates, candidate{word: n.Name})
	}
	return out
}

// fromKubeconfig returns the contexts, clusters or users of the kubeconfig.
func (p *program) fromKubeconfig(what string) completion {
	config, err := p.connection.config().ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return words()
	}
	out := words()
	switch what {
	case "context":
		for name, context := range config.Contexts {
			out.candidates = append(out.candidates, candidate{name, "cluster " + context.Cluster})
		}
	case "cluster":
		for name, cluster := range config.Clusters {
			out.candidates = append(out.candidates, candidate{name, cluster.Server})
		}
	case "user":
		for name := range config.AuthInfos {
			out.candidates = append(out.candidates, candidate{word: name})
		}
	}
	slices.SortFunc(out.candidates, func(a, b candidate) int { return strings.Compare(a.word, b.word) })
	return out
}
