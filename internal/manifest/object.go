// Package manifest is what a chart renders to: objects with an identity, and
// hooks with their annotations, in the order in which Helm sends them.
//
// It does not render templates, does not talk to a cluster and does not decide
// what happens to an object.
package manifest

import (
	"cmp"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// ID says which object is meant, whatever version it is read through: an
// apiVersion bump keeps the ID. Namespace is empty for cluster-scoped kinds.
type ID struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// String returns how people name the object: "Deployment/web". Group and namespace are
// left out; they matter where two objects would otherwise look the same.
func (id ID) String() string { return id.Kind + "/" + id.Name }

// GroupKind returns the group and kind of the object.
func (id ID) GroupKind() schema.GroupKind { return schema.GroupKind{Group: id.Group, Kind: id.Kind} }

// RunsToItsEnd reports whether the object runs to completion. As in Helm, the name of
// its kind decides (kinds.Named).
func (id ID) RunsToItsEnd() bool { return kinds.Named(id.Kind).RunsToItsEnd }

// IsCRD reports whether the object defines a kind: a CustomResourceDefinition of
// Kubernetes' own. Another group's kind of that name is a custom resource.
func (id ID) IsCRD() bool { return id.GroupKind() == kinds.CustomResourceDefinition }

// IsSecret reports whether the object is a Secret of Kubernetes' own.
func (id ID) IsSecret() bool { return id.GroupKind() == kinds.Secret }

// Key returns the unambiguous form "apps/Deployment/shop/web" (the group of core kinds
// and the namespace of cluster-scoped ones are empty).
func (id ID) Key() string {
	return id.Group + "/" + id.Kind + "/" + id.Namespace + "/" + id.Name
}

// Compare orders IDs by group, kind, namespace and name.
func (id ID) Compare(other ID) int {
	return cmp.Or(
		cmp.Compare(id.Group, other.Group),
		cmp.Compare(id.Kind, other.Kind),
		cmp.Compare(id.Namespace, other.Namespace),
		cmp.Compare(id.Name, other.Name),
	)
}

// Object is one parsed object of a manifest.
type Object struct {
	ID
	// Version is the version of its apiVersion, "v1" in "apps/v1".
	Version string
	// Source is the template it was rendered from, "" when unknown.
	Source string
	// Text is the YAML document from which Parse made this object and no other; else "".
	Text string
	// Doc is the parsed document. It is shared; whoever changes it copies it first.
	Doc *unstructured.Unstructured
}

// Defines returns what a CRD defines; ok is false for other objects.
func (o Object) Defines() (d kinds.Definition, ok bool) { return kinds.Define(o.Doc) }

// DefinedKind is a kind with the CRD that defines it.
type DefinedKind struct {
	kinds.Definition
	CRD Object
}

// DefinedKinds returns the kinds that the CRDs among objects define; of several CRDs of one kind, the
// first counts.
func DefinedKinds(objects ...[]Object) map[schema.GroupKind]DefinedKind {
	out := map[schema.GroupKind]DefinedKind{}
	for _, list := range objects {
		for _, o := range list {
			d, ok := o.Defines()
			if _, before := out[d.GroupKind]; ok && !before {
				out[d.GroupKind] = DefinedKind{d, o}
			}
		}
	}
	return out
}

// GVK returns the group, version and kind in which the object is written.
func (o Object) GVK() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: o.Group, Version: o.Version, Kind: o.Kind}
}

// FromDoc makes an Object from a parsed document. Errors: a missing kind, apiVersion or
// name, an apiVersion that can't be parsed.
func FromDoc(doc *unstructured.Unstructured, source string) (Object, error) {
	kind, apiVersion := doc.GetKind(), doc.GetAPIVersion()
	if err := notText(doc, "kind"); err != nil {
		return Object{}, fmt.Errorf("%s: an object's %w", source, err)
	}
	if kind == "" {
		return Object{}, fmt.Errorf("%s: an object has no kind", source)
	}
	for _, path := range [...][]string{{"apiVersion"}, {"metadata", "name"}} {
		if err := notText(doc, path...); err != nil {
			return Object{}, fmt.Errorf("%s: %s: %w", source, kind, err)
		}
	}
	if apiVersion == "" {
		return Object{}, fmt.Errorf("%s: %s has no apiVersion", source, kind)
	}
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return Object{}, fmt.Errorf("%s: %s: %w", source, kind, err)
	}
	if doc.GetName() == "" && doc.GetGenerateName() != "" {
		return Object{}, fmt.Errorf("%s: %s has metadata.generateName and no metadata.name, by which a release finds its objects again", source, kind)
	}
	if doc.GetName() == "" {
		return Object{}, fmt.Errorf("%s: %s has no metadata.name", source, kind)
	}
	return Object{
		ID:      ID{Group: gv.Group, Kind: kind, Namespace: doc.GetNamespace(), Name: doc.GetName()},
		Version: gv.Version,
		Source:  source,
		Doc:     doc,
	}, nil
}

// Scope says where objects of a kind live, according to discovery.
type Scope int

const (
	// ScopeUnknown is the scope of a kind the cluster does not serve (yet).
	ScopeUnknown Scope = iota
	ScopeNamespaced
	ScopeCluster
)

// Qualify gives every namespaced object without a namespace the release's, and removes
// the namespace of cluster-scoped ones. Kinds of unknown scope count as namespaced, as
// Helm's users expect of custom resources. Documents that change are copied; objects
// that share one share its copy.
func Qualify(objects []Object, namespace string, scope func(schema.GroupVersionKind) Scope) []Object {
	out := make([]Object, len(objects))
	copies := map[*unstructured.Unstructured]*unstructured.Unstructured{}
	for i, o := range objects {
		want := o.Namespace
		switch scope(o.GVK()) {
		case ScopeCluster:
			want = ""
		case ScopeNamespaced, ScopeUnknown:
			if want == "" {
				want = namespace
			}
		}
		if want != o.Namespace {
			changed := copies[o.Doc]
			if changed == nil {
				changed = Sharing(o.Doc)
				changed.SetNamespace(want)
				copies[o.Doc] = changed
			}
			o.Doc, o.Namespace = changed, want
		}
		out[i] = o
	}
	return out
}

// Sharing returns a copy of an object whose metadata may be set: everything else is
// shared with the original, so it must not be changed in either.
func Sharing(doc *unstructured.Unstructured) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: maps.Clone(doc.Object)}
	if metadata, ok := doc.Object["metadata"].(map[string]any); ok {
		out.Object["metadata"] = maps.Clone(metadata)
	}
	return out
}

// ParseCRDs parses the files of crds/ folders. An object that is there more than once is returned once,
// the first one, as with Helm, which skips what exists (4.3.1, pkg/action/install.go, installCRDs). The
// error is that of the first document that can't be parsed; the objects of all others are returned.
func ParseCRDs(files []chart.CRD) ([]Object, error) {
	var out []Object
	var first error
	seen := map[ID]bool{}
	for _, f := range files {
		for _, doc := range Split(string(f.Data)) {
			objects, err := ParseDocument(doc, f.Path)
			first = cmp.Or(first, err)
			for _, o := range objects {
				if !seen[o.ID] {
					seen[o.ID] = true
					out = append(out, o)
				}
			}
		}
	}
	return out, first
}
