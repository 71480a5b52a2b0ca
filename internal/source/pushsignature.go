package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/signature"
)

// ReadEvidence reads the files next to an archive that are pushed with it, by suffix: its
// provenance file, and the manifest signed by cosign, with the signature. A cosign signature of
// the archive itself (sign-blob) does not sign a manifest, and is not pushed.
func ReadEvidence(archive string) (map[string][]byte, error) {
	evidence := map[string][]byte{}
	for _, suffix := range []string{ProvenanceSuffix, manifestSuffix, bundleSuffix} {
		data, err := inputfile.Read(archive+suffix, maxSignatureBytes)
		if err == nil {
			evidence[suffix] = data
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if evidence[manifestSuffix] == nil || evidence[bundleSuffix] == nil {
		delete(evidence, manifestSuffix)
		delete(evidence, bundleSuffix)
	}
	return evidence, nil
}

// consistsOf returns an error if a signed manifest is for another archive, or has blobs that are
// not here.
func (u Upload) consistsOf(manifest []byte, blobs []blobOf) error {
	var m ocispec.Manifest
	err := holds(manifest, Digest(u.Archive))
	if err == nil {
		err = json.Unmarshal(manifest, &m)
	}
	if err != nil {
		return fmt.Errorf("%s can't be pushed as it was signed: %w", u.Metadata.Name, err)
	}
	for _, part := range append(m.Layers, m.Config) {
		if !slices.ContainsFunc(blobs, func(b blobOf) bool { return b.Digest == part.Digest }) {
			return fmt.Errorf("%s can't be pushed as it was signed: %s, of type %s, is not here; without the %s file beside it, it is pushed without the signature", u.Metadata.Name, part.Digest, part.MediaType, manifestSuffix)
		}
	}
	return nil
}

// pushSignature pushes a signature to where cosign looks for it: a bundle as a referrer of the
// manifest, a cosign 2 signature under the tag for these.
func pushSignature(ctx context.Context, repo *remote.Repository, manifest, bundle []byte) error {
	if layer, is := simple(bundle); is {
		return pushBelow(ctx, repo, signatureTag(Digest(manifest)), layer)
	}
	var kind struct{ MediaType string }
	if err := json.Unmarshal(bundle, &kind); err != nil || !strings.HasPrefix(kind.MediaType, signature.BundleType) {
		return errors.New("the signature beside the archive was not made by cosign")
	}
	subject, empty := newBlob(ocispec.MediaTypeImageManifest, manifest).Descriptor, newBlob(ocispec.MediaTypeEmptyJSON, []byte("{}"))
	layer := newBlob(kind.MediaType, bundle)
	data, err := json.Marshal(ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest, ArtifactType: kind.MediaType,
		Config: empty.Descriptor, Layers: []ocispec.Descriptor{layer.Descriptor}, Subject: &subject,
	})
	if err != nil {
		return err
	}
	return upload(ctx, repo, []blobOf{empty, layer}, data, Digest(data))
}

// pushBelow adds a cosign 2 layer to those under a tag.
func pushBelow(ctx context.Context, repo *remote.Repository, tag string, layer ocispec.Descriptor) error {
	config := newBlob(ocispec.MediaTypeImageConfig, []byte("{}"))
	m := ocispec.Manifest{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest, Config: config.Descriptor}
	data, err := readManifest(ctx, repo, tag, "the signatures below "+tag)
	if err == nil {
		err = json.Unmarshal(data, &m)
	} else if errors.Is(err, errdef.ErrNotFound) {
		err = nil
	}
	if err != nil {
		return err
	}
	blob := blobOf{Descriptor: layer, data: layer.Data}
	blob.Data = nil
	if slices.ContainsFunc(m.Layers, func(there ocispec.Descriptor) bool {
		return there.Digest == layer.Digest && there.Annotations[simpleAnnotation] == layer.Annotations[simpleAnnotation]
	}) {
		return nil
	}
	m.Layers = append(m.Layers, blob.Descriptor)
	if data, err = json.Marshal(m); err != nil {
		return err
	}
	return upload(ctx, repo, []blobOf{config, blob}, data, tag)
}
