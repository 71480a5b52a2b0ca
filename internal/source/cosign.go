package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/signature"
)

const (
	// signatureContent is the extension of signatures in the content cache, which are stored
	// under the digest of what is signed.
	signatureContent = ".sigstore"
	// simpleLayer and its annotations are how cosign 2 and earlier store signatures under a
	// tag: https://github.com/sigstore/cosign/blob/main/specs/SIGNATURE_SPEC.md
	simpleLayer           = "application/vnd.dev.cosign.simplesigning.v1+json"
	simpleAnnotation      = "dev.cosignproject.cosign/signature"
	certificateAnnotation = "dev.sigstore.cosign/certificate"
	entryAnnotation       = "dev.sigstore.cosign/bundle"
	// maxSignatures is how many signatures of a chart are checked, maxReferrers how many
	// referrers are listed, and maxReferrerPages in how many pages.
	maxSignatures    = 100
	maxReferrers     = 10_000
	maxReferrerPages = 100
)

// verifyArchive checks the bundle next to an archive on a server.
func (s *Sources) verifyArchive(ctx context.Context, f *Fetched, d demand) (signature.Signature, error) {
	at, err := resolve.Beside(f.URL, bundleSuffix)
	if err != nil {
		return signature.Signature{}, err
	}
	data, err := s.beside(ctx, *f, at, signatureContent)
	if err != nil {
		return signature.Signature{}, err
	}
	f.show(bundleSuffix, data)
	found, err := signature.VerifyBundle(data, signature.Subject{Digest: Digest(f.Data), Data: f.Data}, d.party)
	if err != nil {
		err = &UnverifiedError{What: f.Location(), Err: err}
	}
	return found, err
}

// verifyImage looks for a signature by a party among those that a registry has of a manifest:
// bundles that refer to it, or what cosign 2 stored under a tag.
func (s *Sources) verifyImage(ctx context.Context, f *Fetched, by signature.Party) (signature.Signature, error) {
	manifest, cached := s.cached(f.Manifest, manifestContent)
	if !cached && !s.Offline { // as without a cache
		var err error
		if manifest, err = s.fetchManifest(ctx, f.Found); err != nil {
			return signature.Signature{}, err
		}
	}
	f.show(manifestSuffix, manifest)
	search := signatureSearch{subject: signature.Subject{Digest: f.Manifest, Data: manifest}, by: by, at: f.Location()}
	if s.Offline {
		data, err := s.keptBeside(*f, f.Manifest, signatureContent)
		if err == nil && !search.take(data) {
			err = search.failure()
		}
		f.show(bundleSuffix, data)
		return search.found, err
	}
	var err error
	if search.repo, err = s.repository(ctx, *f.image); err != nil {
		return search.found, err
	}
	if err = search.referrers(ctx); err == nil && search.kept == nil {
		err = search.below(ctx, signatureTag(f.Manifest))
	}
	switch {
	case err != nil:
		return search.found, explained("signature of "+search.at, err)
	case search.kept == nil:
		return search.found, search.failure()
	}
	f.show(bundleSuffix, search.kept)
	return search.found, replace(s.contentFile(f.Manifest, signatureContent), search.kept)
}

// signatureSearch is the search for a valid signature among several.
type signatureSearch struct {
	repo    *remote.Repository
	at      string
	subject signature.Subject
	by      signature.Party

	// pages, seen and looked count pages of referrers, referrers, and signatures among them.
	pages, seen, looked int

	found signature.Signature
	// kept is the valid signature: a bundle, or a cosign 2 layer.
	kept []byte
	// last is why the last signature was not valid.
	last error
}

var errEnough = errors.New("enough")

func (q *signatureSearch) failure() error {
	if q.last == nil {
		q.last = errors.New("the registry has none")
	}
	return &UnverifiedError{What: q.at, Err: q.last}
}

// take keeps a signature if it is valid, and reports whether it is.
func (q *signatureSearch) take(data []byte) bool {
	found, err := verifySignature(data, q.subject, q.by)
	if err != nil {
		q.last = err
		return false
	}
	q.found, q.kept = found, data
	return true
}

// verifySignature checks a Sigstore bundle, or a cosign 2 layer, given as its descriptor with
// embedded data: https://github.com/opencontainers/image-spec/blob/main/descriptor.md
func verifySignature(data []byte, s signature.Subject, by signature.Party) (signature.Signature, error) {
	if layer, is := simple(data); is {
		return signature.VerifySimple(signature.Simple{
			Payload: layer.Data, Signature: layer.Annotations[simpleAnnotation], Certificate: layer.Annotations[certificateAnnotation], Entry: layer.Annotations[entryAnnotation],
		}, s, by)
	}
	return signature.VerifyBundle(data, s, by)
}

// simple parses the descriptor of a cosign 2 layer; is reports whether data is one.
func simple(data []byte) (layer ocispec.Descriptor, is bool) {
	err := json.Unmarshal(data, &layer)
	return layer, err == nil && layer.MediaType == simpleLayer
}

// referrers checks the bundles that refer to the manifest, found with the referrers API of OCI
// 1.1 or its fallback tag.
func (q *signatureSearch) referrers(ctx context.Context) error {
	subject := newBlob(ocispec.MediaTypeImageManifest, q.subject.Data).Descriptor
	err := q.repo.Referrers(ctx, subject, "", func(referrers []ocispec.Descriptor) error {
		q.pages, q.seen = q.pages+1, q.seen+len(referrers)
		if q.pages > maxReferrerPages || q.seen > maxReferrers {
			return errEnough
		}
		for _, r := range referrers {
			if !strings.HasPrefix(r.ArtifactType, signature.BundleType) {
				continue
			}
			if q.looked++; q.looked > maxSignatures {
				return errEnough
			}
			err := q.layers(ctx, string(r.Digest), signature.BundleType, func(_ ocispec.Descriptor, data []byte) bool { return q.take(data) })
			if err != nil && !q.skips(err) {
				return err
			}
			if q.kept != nil {
				return errEnough
			}
		}
		return nil
	})
	if errors.Is(err, errEnough) || errors.Is(err, errdef.ErrNotFound) {
		return nil
	}
	return err
}

// signatureTag returns the tag under which cosign 2 stores the signatures of a manifest.
func signatureTag(manifest string) string { return strings.Replace(manifest, ":", "-", 1) + ".sig" }

// below checks the cosign 2 signatures under a tag.
func (q *signatureSearch) below(ctx context.Context, tag string) error {
	err := q.layers(ctx, tag, simpleLayer, func(layer ocispec.Descriptor, data []byte) bool {
		layer.Data = data
		whole, err := json.Marshal(layer)
		return err == nil && q.take(whole)
	})
	if errors.Is(err, errdef.ErrNotFound) {
		return nil
	}
	return err
}

// skips reports whether an error means that a signature can't be had although it is listed, while
// others may be fine, and remembers it.
func (q *signatureSearch) skips(err error) bool {
	_, gone := errors.AsType[*NotThereError](err)
	_, large := errors.AsType[*inputfile.TooLargeError](err)
	_, other := errors.AsType[*DigestError](err)
	switch {
	case gone || errors.Is(err, errdef.ErrNotFound):
		q.last = errors.New("the registry lists a signature that it does not have")
	case large || other:
		q.last = fmt.Errorf("a signature can't be read: %w", err)
	default:
		return false
	}
	return true
}

// layers fetches the layers of a kind in a manifest, until one is taken.
func (q *signatureSearch) layers(ctx context.Context, reference, kind string, take func(ocispec.Descriptor, []byte) bool) error {
	data, err := readManifest(ctx, q.repo, reference, "a signature of "+q.at)
	if err != nil {
		return err
	}
	var m ocispec.Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		q.last = fmt.Errorf("it can't be read: %w", err)
		return nil
	}
	for i, layer := range m.Layers {
		if i >= maxSignatures || !strings.HasPrefix(layer.MediaType, kind) || layer.Size < 0 || layer.Size > maxSignatureBytes {
			continue
		}
		if err := layer.Digest.Validate(); err != nil {
			q.last = fmt.Errorf("it can't be read: %q: %w", layer.Digest, err)
			continue
		}
		data, err := fetchBlob(ctx, q.repo, q.at, layer)
		if err != nil && q.skips(err) {
			continue
		}
		if err != nil {
			return err
		}
		if take(layer, data) {
			return nil
		}
	}
	return nil
}
