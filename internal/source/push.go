package source

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// Upload is a chart to be pushed.
type Upload struct {
	// To is the image without a tag.
	To       resolve.Image
	Metadata *chart.Metadata
	// Archive is the .tgz, and Evidence its signatures, as in Fetched. If that has a manifest
	// signed by cosign, this manifest is pushed unchanged, together with the signature.
	Archive  []byte
	Evidence map[string][]byte
	// Created is the creation time in the manifest; zero omits it, so the same chart has the
	// same manifest whenever it is pushed.
	Created time.Time
	// Force moves an existing tag with other content.
	Force bool
}

// Pushed is the result of a push.
type Pushed struct {
	Reference string `json:"reference"`
	Digest    string `json:"digest"`
	// Signature is the digest of the cosign signature pushed with it, "" without one.
	Signature string `json:"signature,omitempty"`
	// Changed reports whether the chart was pushed; false if the registry already had it.
	Changed bool `json:"changed"`
}

// Push pushes a chart to a registry, with its version as the tag. Errors:
// *TagTakenError if the tag has other content, *RefusedError.
func (s *Sources) Push(ctx context.Context, u Upload) (Pushed, error) {
	image := u.To
	image.Tag = resolve.TagOf(u.Metadata.Version)
	if _, _, err := resolve.ParseImage(image.String()); err != nil {
		return Pushed{}, err
	}
	repo, err := s.repository(ctx, image)
	if err != nil {
		return Pushed{}, err
	}
	manifest, blobs, err := u.manifest()
	if err != nil {
		return Pushed{}, err
	}
	there, err := s.alreadyThere(ctx, repo, image, u, Digest(manifest))
	if err != nil {
		return Pushed{}, err
	}
	out := Pushed{Reference: image.String(), Digest: cmp.Or(there, Digest(manifest)), Changed: there == ""}
	if out.Changed {
		err = upload(ctx, repo, blobs, manifest, image.Tag)
	}
	if bundle, signed := u.Evidence[bundleSuffix]; err == nil && signed {
		out.Signature, err = Digest(bundle), pushSignature(ctx, repo, manifest, bundle)
	}
	return out, explained("push "+image.String(), err)
}

// alreadyThere returns the digest of the tag's manifest if nothing has to be pushed, or "". Errors:
// *TagTakenError, *RefusedError.
func (s *Sources) alreadyThere(ctx context.Context, repo *remote.Repository, i resolve.Image, u Upload, manifest string) (string, error) {
	there, err := repo.Resolve(ctx, i.Tag)
	switch {
	case errors.Is(err, errdef.ErrNotFound):
		return "", nil
	case err != nil:
		return "", explained("push "+i.String(), err)
	case string(there.Digest) == manifest:
		return manifest, nil
	}
	data, _, err := s.manifestData(ctx, s.foundImage(i, string(there.Digest)))
	if err != nil {
		return "", err
	}
	sameArchive, sameEvidence := u.contained(data)
	switch {
	case sameArchive && sameEvidence:
		return string(there.Digest), nil
	case !u.Force:
		return "", &TagTakenError{Image: i.String(), There: string(there.Digest), New: manifest, SameArchive: sameArchive}
	}
	return "", nil
}

// contained reports whether a manifest has the archive to be pushed, and whether it has its evidence.
// The manifests of other tools differ in their creation time; one that cosign has signed must not.
func (u Upload) contained(manifest []byte) (archive, evidence bool) {
	m, err := parseManifest(manifest)
	if err != nil {
		return false, false // another thing than a chart
	}
	layer, err := layerOf(m, chartType, oldChartType)
	archive = err == nil && string(layer.Digest) == Digest(u.Archive)
	if u.Evidence[manifestSuffix] != nil {
		return archive, false
	}
	provenance, signed := u.Evidence[ProvenanceSuffix]
	layer, err = layerOf(m, provenanceType)
	return archive, !signed || err == nil && string(layer.Digest) == Digest(provenance)
}

// blobOf is a blob with its descriptor.
type blobOf struct {
	ocispec.Descriptor
	data []byte
}

func newBlob(mediaType string, data []byte) blobOf {
	return blobOf{Descriptor: ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data))}, data: data}
}

// manifest returns the chart's manifest as Helm writes it (Helm 4.3.1, pkg/registry/client.go, Push
// and tagManifest), or the one that was signed, and its blobs.
func (u Upload) manifest() ([]byte, []blobOf, error) {
	config, err := json.Marshal(u.Metadata)
	if err != nil {
		return nil, nil, err
	}
	blobs := []blobOf{newBlob(chartType, u.Archive)}
	if provenance, is := u.Evidence[ProvenanceSuffix]; is {
		blobs = append(blobs, newBlob(provenanceType, provenance))
	}
	slices.SortFunc(blobs, func(a, b blobOf) int { return cmp.Compare(a.Digest, b.Digest) })
	m := ocispec.Manifest{Versioned: specs.Versioned{SchemaVersion: 2}, Config: newBlob(configType, config).Descriptor, Annotations: u.annotations()}
	for _, b := range blobs {
		m.Layers = append(m.Layers, b.Descriptor)
	}
	blobs = append(blobs, newBlob(configType, config))
	if signed, is := u.Evidence[manifestSuffix]; is {
		return signed, blobs, u.consistsOf(signed, blobs)
	}
	data, err := json.Marshal(m)
	return data, blobs, err
}

// annotations returns the annotations that Helm derives from Chart.yaml. The chart's own
// annotations may replace them, except for name and version.
func (u Upload) annotations() map[string]string {
	m := u.Metadata
	out := map[string]string{ocispec.AnnotationDescription: m.Description, ocispec.AnnotationURL: m.Home}
	if len(m.Sources) > 0 {
		out[ocispec.AnnotationSource] = m.Sources[0]
	}
	var people []string
	for _, p := range m.Maintainers {
		person := p.Name
		if p.Email != "" {
			person += " (" + p.Email + ")"
		}
		people = append(people, person)
	}
	out[ocispec.AnnotationAuthors] = strings.Join(people, ", ")
	if !u.Created.IsZero() {
		out[ocispec.AnnotationCreated] = u.Created.UTC().Format(time.RFC3339)
	}
	maps.Copy(out, m.Annotations)
	out[ocispec.AnnotationTitle], out[ocispec.AnnotationVersion] = m.Name, m.Version
	maps.DeleteFunc(out, func(_, value string) bool { return strings.TrimSpace(value) == "" })
	return out
}

// upload pushes the blobs that the registry does not have, and then the manifest.
func upload(ctx context.Context, repo *remote.Repository, blobs []blobOf, manifest []byte, tag string) error {
	for _, b := range blobs {
		there, err := repo.Blobs().Exists(ctx, b.Descriptor)
		if err == nil && !there {
			err = repo.Blobs().Push(ctx, b.Descriptor, bytes.NewReader(b.data))
		}
		if err != nil {
			return err
		}
	}
	m := newBlob(ocispec.MediaTypeImageManifest, manifest)
	return repo.PushReference(ctx, m.Descriptor, bytes.NewReader(manifest), tag)
}

// TagTakenError says that a tag already has other content.
type TagTakenError struct {
	Image, There, New string
	// SameArchive reports whether only the signature differs.
	SameArchive bool
}

func (e *TagTakenError) Error() string {
	if e.SameArchive {
		return fmt.Sprintf("%s already exists with the same archive but without this signature, %s; this is %s", e.Image, e.There, e.New)
	}
	return fmt.Sprintf("%s already exists with other content, %s; this is %s", e.Image, e.There, e.New)
}
