package plan

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// checkServed forbids the step of an object whose kind the cluster does not serve in the version that the
// chart wants, unless this plan installs that kind.
func (b *builder) checkServed(step *Step, o manifest.Object) (left bool) {
	what, do := b.unserved(o)
	return what != "" && b.forbid(step, ProblemInvalid, what, do)
}

// unserved says why the cluster does not serve an object, not even after this plan's CRDs are written, and what
// to do about it; what is "" if it does.
func (b *builder) unserved(o manifest.Object) (what, do string) {
	kind, looked := b.in.Kinds[o.GroupKind()]
	switch d := b.brings[o.GroupKind()]; {
	case !looked || slices.Contains(kind.Versions, o.Version):
		return "", ""
	case kind.Unavailable != "":
		return fmt.Sprintf("the API %s can't be discovered: %s", apiVersion(o.Group, o.Version), kind.Unavailable), "retry when that API is back"
	case b.bringsVersion(o.ID, o.Version):
		return "", ""
	case len(kind.Versions) > 0 && slices.Contains(d.Served, o.Version):
		return fmt.Sprintf("the cluster serves %s only in %s; the CRD in the chart's crds/ has %s", o.Kind, strings.Join(kind.Versions, ", "), o.Version), "add --update-crds to update it first"
	case len(kind.Versions) > 0:
		return fmt.Sprintf("the cluster does not serve %s in %s, only in %s", o.Kind, apiVersion(o.Group, o.Version), strings.Join(kind.Versions, ", ")), "use a chart version made for this Kubernetes"
	case o.Group == "extensions": // Kubernetes' own, and empty since 1.22: no CRD brings it back
		return fmt.Sprintf("Kubernetes no longer serves %s in %s", o.Kind, apiVersion(o.Group, o.Version)), "use a chart version made for this Kubernetes"
	case !strings.Contains(o.Group, ".") && kinds.Known(o.GroupKind()): // PodSecurityPolicy
		return fmt.Sprintf("the cluster has no kind %s in %s", o.Kind, apiVersion(o.Group, o.Version)), "use a chart version made for this Kubernetes"
	case !strings.Contains(o.Group, "."): // Kubernetes' own: a CRD's group has a dot (apiextensions-apiserver 0.36.3, validateCustomResourceDefinitionSpec)
		return fmt.Sprintf("the cluster has no kind %s in %s", o.Kind, apiVersion(o.Group, o.Version)), "correct apiVersion or kind in the chart: no CRD can define this one"
	case !b.bringsKind(o.ID):
		return fmt.Sprintf("the cluster has no kind %s in %s", o.Kind, apiVersion(o.Group, o.Version)), "install the CRD that defines it first, or correct the chart"
	case len(d.Served) > 0 && !slices.Contains(d.Served, o.Version):
		return fmt.Sprintf("%s, which comes with this plan, serves %s only in %s", d.CRD.Name, o.Kind, strings.Join(d.Served, ", ")), "correct the chart"
	}
	return "", ""
}

// servedThen returns the versions in which the cluster serves a kind once this plan's CRDs are written.
func (b *builder) servedThen(kind schema.GroupKind) []string {
	served := b.in.Kinds[kind].Versions
	if d, ok := b.brings[kind]; ok && (len(served) == 0 || b.updates(d.CRD.ID)) {
		return d.Served
	}
	return served
}

// unservedThen says why the cluster will not serve an object when this plan's run is undone, although the rollback
// restores the CRDs of the kinds that it brings; "" if it will, or if that is not known.
func (b *builder) unservedThen(o manifest.Object, brings map[schema.GroupKind]manifest.DefinedKind) string {
	kind := o.GroupKind()
	known, looked := b.in.Kinds[kind]
	served := b.servedThen(kind)
	switch {
	case !looked || known.Unavailable != "" || slices.Contains(served, o.Version) || slices.Contains(brings[kind].Served, o.Version):
		return ""
	case len(served) == 0:
		return fmt.Sprintf("the cluster has no kind %s in %s", o.Kind, apiVersion(o.Group, o.Version))
	}
	return fmt.Sprintf("by then the cluster serves %s only in %s, not in %s", o.Kind, strings.Join(served, ", "), apiVersion(o.Group, o.Version))
}

// checkHookServed is checkServed for a hook, which may also be of a kind that an earlier hook of this plan
// creates: Helm looks for a hook's kind only when it runs (4.3.1, pkg/action/hooks.go,
// execHookWithDelayedShutdown).
func (b *builder) checkHookServed(run *Step, o manifest.Object) {
	if d, ok := b.hooked[o.GroupKind()]; !ok || !slices.Contains(d.Served, o.Version) {
		b.checkServed(run, o)
	}
	if d, ok := o.Defines(); ok {
		b.hooked[d.GroupKind] = manifest.DefinedKind{Definition: d, CRD: o}
	}
}

// bringsKind reports whether a CRD of this plan defines the object's kind.
func (b *builder) bringsKind(id manifest.ID) bool {
	_, ok := b.brings[id.GroupKind()]
	return ok
}

// bringsVersion reports whether a CRD that this plan creates or updates serves the object's kind in a
// version that the cluster does not serve.
func (b *builder) bringsVersion(id manifest.ID, version string) bool {
	d, ok := b.brings[id.GroupKind()]
	kind := b.in.Kinds[id.GroupKind()]
	if !ok || slices.Contains(kind.Versions, version) || !slices.Contains(d.Served, version) {
		return false
	}
	return len(kind.Versions) == 0 || b.updates(d.CRD.ID)
}

// updates reports whether this plan updates an existing CRD that differs from the target's: one of crds/
// only with --update-crds.
func (b *builder) updates(crd manifest.ID) bool { return b.wants(crd) || b.in.Options.UpdateCRDs }
