package repository

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/composition"
	"github.com/kubectl-release/kubectl-release/internal/flux/digest"
	"github.com/kubectl-release/kubectl-release/internal/flux/options"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// InCluster returns an entry of m with the variables and values that the repository does not know
// read from the cluster, unless it is another one than that of m.
func (m *Managed) InCluster(e releaseset.Entry, lookup releaseset.Lookup) releaseset.Entry {
	if m.remote() != nil {
		return e
	}
	out := *m
	next, secrets, err := m.in.resolve(e, m, lookup)
	if known, ok := next.Manager.(*Managed); ok {
		out = *known
	}
	out.origins = m.origins
	if next.Manager = &out; out.helmChart == nil { // of a HelmChart that only the cluster has
		out.helmChart = out.now(out.hr, lookup).helmChart
	}
	if err != nil {
		out.err, out.secrets = err, secrets
		return next
	}
	next.Values = out.compose(lookup)
	if out.err == nil {
		out.err = out.reach(lookup)
	}
	return next
}

// compose composes the values. Without a lookup no cluster is asked.
func (m *Managed) compose(lookup releaseset.Lookup) []releaseset.Value {
	var within composed
	found, err := composition.Compose(m.hr, m.in.values(m.hr, lookup, &within))
	m.composed = composed{secrets: slices.Concat(m.hidden, within.secrets)} // which an error may quote
	if err != nil {
		m.err = err
		return nil
	}
	m.notes, m.secrets, m.unknown = found.Notes, append(m.secrets, found.Secrets...), slices.Clone(m.sealed)
	for _, ref := range found.Unknown {
		m.unknown = union(m.unknown, []string{ref.Kind + " " + m.hr.Metadata.Namespace + "/" + ref.Name})
	}
	m.unknown = union(m.unknown, within.unknown)
	for _, ref := range found.Skipped {
		m.notes = append(m.notes, fmt.Sprintf("optional %s %s/%s is skipped: it, or its key %s, was not found", ref.Kind, m.hr.Metadata.Namespace, ref.Name, ref.Key()))
	}
	data, err := json.Marshal(found.Values)
	if err == nil {
		m.values, err = digest.Values(found.Values)
	}
	if err != nil {
		m.err = err
		return nil
	}
	if len(found.Values) == 0 {
		return nil
	}
	return []releaseset.Value{{Inline: data, From: m.from}}
}

// union returns a with what of b is not in it.
func union(a, b []string) []string {
	for _, text := range b {
		if !slices.Contains(a, text) {
			a = append(a, text)
		}
	}
	return a
}

// joined returns texts a with those of b that are not in it, and leaves a as it is.
func joined(a, b [][]byte) [][]byte {
	has := make(map[string]bool, len(a))
	for _, text := range a {
		has[string(text)] = true
	}
	a = slices.Clip(a)
	for _, text := range b {
		if !has[string(text)] {
			has[string(text)] = true
			a = append(a, text)
		}
	}
	return a
}

// maxLabel is the API server's limit for the value of a label.
const maxLabel = 63

// unplanned returns notes about fields whose effect no plan shows.
func unplanned(hr *flux.HelmRelease) []string {
	var out []string
	for _, field := range hr.Unknown {
		out = append(out, field+" is not a known field: what it does is not planned")
	}
	if n := len(hr.Metadata.Name); n > maxLabel {
		out = append(out, fmt.Sprintf("the HelmRelease's name has %d characters and becomes a label of every object; the API server rejects label values longer than %d, so every install and upgrade will fail", n, maxLabel))
	}
	if i := hr.Spec.Install; i != nil && i.SkipCRDs && !options.Install(hr).SkipCRDs {
		out = append(out, "spec.install.skipCRDs has no effect; with spec.install.crds: Skip, installs leave out the chart's CRDs")
	}
	if len(hr.Spec.HealthCheckExprs) > 0 {
		out = append(out, "spec.healthCheckExprs decide when an upgrade is done, which no plan shows")
	}
	return out
}
