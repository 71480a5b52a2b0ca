package command

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/argv"
	"github.com/kubectl-release/kubectl-release/internal/completion"
	"github.com/kubectl-release/kubectl-release/internal/source"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// completionSources are the words that the flags and the environment lead to. It implements
// completion.Sources.
type completionSources struct{ *program }

// Releases implements completion.Sources.
func (p completionSources) Releases(ctx context.Context) (out []completion.Candidate) {
	s, err := p.connect()
	if err != nil {
		return nil
	}
	found, _ := s.store.List(ctx, releasestore.Query{Namespace: s.namespace}) // on error, it still returns what it could read
	for _, r := range found {
		out = append(out, completion.Candidate{Word: r.Name, Meaning: r.ChartLabel() + ", " + string(r.Info.Status)})
	}
	return out
}

// Revisions implements completion.Sources.
func (p completionSources) Revisions(ctx context.Context, release string) (out []completion.Candidate) {
	s, err := p.connect()
	if err != nil {
		return nil
	}
	history, _, err := s.engine.History(ctx, s.key(release))
	if err != nil {
		return nil
	}
	for _, r := range slices.Backward(history) {
		meaning := []string{r.ChartLabel(), string(r.Info.Status), localTime(r.Info.LastDeployed)}
		out = append(out, completion.Candidate{Word: strconv.Itoa(r.Version), Meaning: strings.Join(meaning, ", ")})
	}
	return out
}

// Namespaces implements completion.Sources.
func (p completionSources) Namespaces(ctx context.Context) (out []completion.Candidate) {
	s, err := p.connect()
	if err != nil {
		return nil
	}
	found, err := s.cluster.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil
	}
	for _, n := range found.Items {
		out = append(out, completion.Candidate{Word: n.Name})
	}
	return out
}

// Kubeconfig implements completion.Sources.
func (p completionSources) Kubeconfig(what string) (out []completion.Candidate) {
	config, err := p.connection.config().ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil
	}
	switch what {
	case "context":
		for name, context := range config.Contexts {
			out = append(out, completion.Candidate{Word: name, Meaning: "cluster " + context.Cluster})
		}
	case "cluster":
		for name, cluster := range config.Clusters {
			out = append(out, completion.Candidate{Word: name, Meaning: cluster.Server})
		}
	case "user":
		for name := range config.AuthInfos {
			out = append(out, completion.Candidate{Word: name})
		}
	}
	slices.SortFunc(out, func(a, b completion.Candidate) int { return strings.Compare(a.Word, b.Word) })
	return out
}

// Settings implements completion.Sources.
func (p completionSources) Settings() (out []completion.Candidate) {
	for _, name := range slices.Sorted(maps.Keys(p.settings())) {
		out = append(out, completion.Candidate{Word: name})
	}
	return out
}

// Values implements completion.Sources.
func (p completionSources) Values(flag string, l *completion.Line) []string {
	switch {
	case flag != "output":
		return choices[flag]
	case l.Command != nil && l.Command.Name == "graph":
		return graphOutputs
	case l.Known["changed-since"] != nil:
		return setOutputs
	case slices.Equal(l.Path, []string{"apply", "many"}):
		return eventOutputs
	case l.Known["dry-run"] != nil && !slices.ContainsFunc(l.Flags, func(f argv.Flag) bool { return f.Name == "dry-run" }):
		return outputs // a run, without a plan that it shows
	case l.Known["detailed-exitcode"] != nil || l.Known["full"] != nil:
		return planOutputs
	}
	return outputs
}

// Charts implements completion.Sources.
func (p completionSources) Charts() (*source.Sources, error) { return p.repositories() }
