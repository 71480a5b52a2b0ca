package flux

// The fields of these types are in Flux's order (fluxcd/pkg apis/kustomize):
// status.observedPostRenderersDigest and status.observedCommonMetadataDigest
// are digests of their JSON.

// PostRenderer changes what a chart renders.
type PostRenderer struct {
	Kustomize *KustomizeRenderer `json:"kustomize,omitempty"`
}

// KustomizeRenderer post-renders with kustomize.
type KustomizeRenderer struct {
	Patches []Patch `json:"patches,omitempty"`
	Images  []Image `json:"images,omitempty"`
}

// Patch is a strategic merge or JSON 6902 patch.
type Patch struct {
	Patch  string    `json:"patch"`
	Target *Selector `json:"target,omitempty"`
}

// Selector selects objects by anchored regular expressions, and by label and
// annotation selectors.
type Selector struct {
	Group              string `json:"group,omitempty"`
	Version            string `json:"version,omitempty"`
	Kind               string `json:"kind,omitempty"`
	Namespace          string `json:"namespace,omitempty"`
	Name               string `json:"name,omitempty"`
	AnnotationSelector string `json:"annotationSelector,omitempty"`
	LabelSelector      string `json:"labelSelector,omitempty"`
}

// Image replaces parts of an image's name.
type Image struct {
	Name    string `json:"name"`
	NewName string `json:"newName,omitempty"`
	NewTag  string `json:"newTag,omitempty"`
	Digest  string `json:"digest,omitempty"`
}

// CommonMetadata is added to every object.
type CommonMetadata struct {
	Annotations map[string]string `json:"annotations,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
}
