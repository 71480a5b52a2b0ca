package engine

import (
	"context"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/templating"
)

// capabilities returns .Capabilities for a cluster. What the chart's CRDs bring counts as installed,
// since they are created before everything that is rendered.
func capabilities(facts cluster.Facts, brought []string) *templating.Capabilities {
	caps := templating.DefaultCapabilities()
	caps.KubeVersion = facts.KubeVersion
	caps.APIVersions = append(templating.VersionSet(slices.Clone(facts.APIVersions)), brought...)
	return caps
}

// brought returns the API versions that a chart's CRDs bring to a cluster. A kind that it has keeps the
// versions that it serves, unless CRDs are updated.
func brought(facts cluster.Facts, crds []manifest.Object, updated bool) []string {
	if updated {
		return servedBy(crds)
	}
	has := map[schema.GroupKind]bool{}
	for _, version := range facts.APIVersions {
		if parts := strings.Split(version, "/"); len(parts) == 3 {
			has[schema.GroupKind{Group: parts[0], Kind: parts[2]}] = true
		}
	}
	return servedBy(slices.DeleteFunc(slices.Clone(crds), func(crd manifest.Object) bool {
		d, _ := crd.Defines()
		return has[d.GroupKind]
	}))
}

// servedBy returns the API versions that CRDs serve.
func servedBy(crds []manifest.Object) []string {
	var out []string
	for _, crd := range crds {
		d, ok := crd.Defines()
		if !ok {
			continue
		}
		for _, version := range d.Served {
			gv := d.Group + "/" + version
			out = append(out, gv, gv+"/"+d.Kind)
		}
	}
	return out
}

// EnabledCRDs returns the objects of the crds/ folders of a chart and of the subcharts that the
// user's values enable.
func EnabledCRDs(c *chart.Chart, user map[string]any) ([]manifest.Object, error) {
	processed, _, err := values.ProcessDependencies(c, user)
	if err != nil {
		return nil, err
	}
	return manifest.ParseCRDs(processed.CRDs())
}

// labelled returns copies of the objects with labels added.
func labelled(objects []manifest.Object, with map[string]string) []manifest.Object {
	if len(with) == 0 {
		return objects
	}
	out := slices.Clone(objects)
	for i, o := range out {
		doc := o.Doc.DeepCopy()
		labels := doc.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		maps.Copy(labels, with)
		doc.SetLabels(labels)
		out[i].Doc = doc
	}
	return out
}

// Capabilities returns what templates see as .Capabilities of the cluster, and its APIs that can't
// be discovered, see RenderOptions. CRDs of the chart that are missing, see EnabledCRDs, count as installed.
func (e *Engine) Capabilities(ctx context.Context, crds []manifest.Object) (caps *templating.Capabilities, undiscovered map[string]string, err error) {
	facts, err := e.Cluster.Facts(ctx)
	if err != nil {
		return nil, nil, err
	}
	return capabilities(facts, brought(facts, crds, false)), facts.Undiscovered, nil
}
