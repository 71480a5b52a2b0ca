package flux

// The order of the fields of these types is that of Flux's (fluxcd/pkg
// apis/kustomize): the digests of status.observedPostRenderersDigest and
// status.observedCommonMetadataDigest are made of their JSON.

// PostRenderer changes what a chart renders.
type PostRenderer struct {
	Kustomize *KustomizeRenderer `json:"kustomize,omitempty"`
}

// KustomizeRenderer is a post-renderer by kustomize.
type KustomizeRenderer struct {
	Patches []Patch `json:"patches,omitempty"`
	Images  []Image `json:"images,omitempty"`
}

// Patch is a strategic merge or JSON 6902 patch.
type Patch struct {
	Patch  string    `json:"patch"`
	Target *Selector `json:"target,omitempty"`
}

// Selector chooses objects: anchored regular expressions, and selectors of
// labels and annotations.
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

// CommonMetadata is put on every object.
type CommonMetadata struct {
	Annotations map[string]string `json:"annotations,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
}
