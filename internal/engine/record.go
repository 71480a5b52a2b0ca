package engine

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/plan"
)

// reuse returns the source with --reuse-values or one of its variants applied.
func reuse(s Source, h release.History) (Source, error) {
	prev := h.Current()
	if prev == nil {
		prev = h.Last()
	}
	if prev == nil || prev.Info.Status == release.StatusUninstalled {
		return s, nil
	}
	var err error
	s.Chart, s.Values, err = s.Reuse.Apply(values.Previous{Chart: prev.Chart, Config: prev.Config}, s.Chart, s.Values)
	return s, err
}

// newRecord returns the revision to store for a rendering, which continues a history.
func newRecord(d Deployment, r Rendering, version int, h release.History) *release.Revision {
	record := &release.Revision{
		Name: d.Release.Name, Namespace: d.Release.Namespace, Version: version,
		Chart: annotated(r.Chart, d.Source.Fetched), Config: r.Config, Manifest: manifest.Text(r.Classified.Documents),
		Labels: labels(d.Options.Labels, h),
		Info:   release.Info{Status: release.StatusUnknown, Notes: r.Notes},
	}
	if first := h.Last(); first != nil {
		record.Info.FirstDeployed = first.Info.FirstDeployed
	}
	for _, hook := range r.Classified.Hooks {
		record.Hooks = append(record.Hooks, release.Hook{Hook: hook})
	}
	return record
}

// annotated returns a copy of the chart with annotations that say where it comes from.
func annotated(c *chart.Chart, from *plan.ChartSource) *chart.Chart {
	with, metadata := *c, *c.Metadata
	metadata.Annotations = from.Annotate(metadata.Annotations)
	with.Metadata = &metadata
	return &with
}

// labels returns the last revision's labels, overridden by the given ones; the value "null" removes
// a label (Helm 4.3.1, pkg/action/upgrade.go, mergeCustomLabels).
func labels(given map[string]string, h release.History) map[string]string {
	merged := map[string]string{}
	if last := h.Last(); last != nil {
		maps.Copy(merged, last.Labels)
	}
	for k, v := range given {
		if v == "null" {
			delete(merged, k)
			continue
		}
		merged[k] = v
	}
	return merged
}

// newTarget returns the target with the record's objects and hooks parsed.
func newTarget(record *release.Revision, crds []manifest.Object, ref plan.ChartRef) (plan.Target, error) {
	objects, err := record.Objects()
	if err != nil {
		return plan.Target{}, err
	}
	shareAlike(objects, nil)
	return plan.Target{Record: record, Objects: objects, HookObjects: hookObjects(record), CRDs: crds, Chart: ref}, nil
}

// shareAlike makes equal parts of objects share memory: with the previous object, since manifests
// are sorted by kind, and with the same object of another revision.
func shareAlike(objects, others []manifest.Object) {
	same := make(map[manifest.ID]*unstructured.Unstructured, len(others))
	for _, o := range others {
		same[o.ID] = o.Doc
	}
	var last any
	for _, o := range objects {
		switch other := same[o.ID]; {
		case other == nil:
			jsontree.Share(o.Doc.Object, last, nil)
		case other != o.Doc:
			jsontree.Share(o.Doc.Object, last, other.Object)
		}
		last = o.Doc.Object
	}
}

// shareLive makes live objects share memory with the documents that were last sent for them.
func shareLive(in plan.Input) {
	for _, s := range in.Stored {
		if live := in.Live[s.ID].Object; live != nil {
			jsontree.Share(live.Object, nil, s.Latest().Doc.Object)
		}
	}
}

// problems converts warnings about the chart and the values into problems.
func problems(s Source, warnings []chart.Warning) []plan.Problem {
	var out []plan.Problem
	for _, w := range warnings {
		kind, place := s.place(w)
		out = append(out, plan.Problem{Kind: kind, What: w.String(), Place: place})
	}
	return out
}
