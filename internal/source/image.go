package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// Media types of a chart in a registry, as in Helm 4.3.1 (pkg/registry/constants.go).
const (
	configType     = "application/vnd.cncf.helm.config.v1+json"
	chartType      = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	oldChartType   = "application/tar+gzip"
	provenanceType = "application/vnd.cncf.helm.chart.provenance.v1.prov"
)

const (
	manifestContent = ".manifest"
	// maxManifestBytes limits the size of a manifest.
	maxManifestBytes = 4 << 20
	// maxTags limits the number of tags of a chart.
	maxTags = 100_000
)

// findImage returns the manifest that a reference to a registry means now, with one request for
// a tag, or two for a range.
func (s *Sources) findImage(ctx context.Context, r resolve.Reference) (Found, error) {
	image := r.Image
	if r.Digest != "" && image.Tag == "" {
		if r.Version.Version != "" {
			return Found{}, fmt.Errorf("%s@%s already selects the chart: leave out --version %s, which is a range", image, r.Digest, r.Version.Version)
		}
		return s.foundImage(image, r.Digest), nil
	}
	wanted := r.Wants()
	if s.Offline {
		return s.notedImage(image, wanted, r.Digest)
	}
	repo, err := s.repository(ctx, image)
	if err != nil {
		return Found{}, err
	}
	if image.Tag == "" {
		tags, err := allTags(ctx, repo)
		if err != nil {
			return Found{}, explained("chart "+image.String(), err)
		}
		if image.Tag, err = r.ChooseTag(tags); err != nil {
			return Found{}, err
		}
	}
	manifest, err := repo.Resolve(ctx, image.Tag)
	if errors.Is(err, errdef.ErrNotFound) && r.Digest != "" {
		return s.foundImage(image, r.Digest), nil // the tag no longer exists; the digest is enough
	}
	if err != nil {
		return Found{}, explained("chart "+image.String(), err)
	}
	if r.Digest != "" && manifest.Digest.String() != r.Digest {
		return Found{}, &DigestError{What: image.String(), Want: r.Digest, Got: manifest.Digest.String()}
	}
	found := s.foundImage(image, manifest.Digest.String())
	return found, s.noteImage(found, wanted)
}

// noteImage records what a tag means now and, if it was chosen for a range, what the range does.
func (s *Sources) noteImage(f Found, wanted string) error {
	tag := f.image.Tag + " " + f.Manifest
	if err := s.note(f.URL, tag); err != nil || f.URL == wanted {
		return err
	}
	return s.note(wanted, tag)
}

func (s *Sources) foundImage(i resolve.Image, manifest string) Found {
	f := Found{URL: i.String(), Manifest: manifest, Name: i.Name(), image: &i}
	if version := resolve.VersionOf(i.Tag); resolve.Strict(version) {
		f.Version = version
	}
	return f
}

// notedImage returns what a tag or range meant when it was last resolved.
func (s *Sources) notedImage(i resolve.Image, wanted, digest string) (Found, error) {
	tag, manifest := s.noted(wanted)
	if digest != "" && (tag == "" || manifest != digest) {
		return s.foundImage(i, digest), nil
	}
	if tag == "" {
		return Found{}, &OfflineError{What: wanted}
	}
	i.Tag = tag
	return s.foundImage(i, manifest), nil
}

// Tags lists the tags of a chart in a registry, in the registry's order. Errors:
// *NotThereError, *RefusedError, *UnreachedError.
func (s *Sources) Tags(ctx context.Context, i resolve.Image) ([]string, error) {
	repo, err := s.repository(ctx, i)
	if err != nil {
		return nil, err
	}
	tags, err := allTags(ctx, repo)
	return tags, explained("chart "+i.String(), err)
}

// allTags lists a repository's tags. Errors: the list is too long, or endless.
func allTags(ctx context.Context, repo *remote.Repository) ([]string, error) {
	var all []string
	pages := 0
	err := repo.Tags(ctx, "", func(tags []string) error {
		all = append(all, tags...)
		if pages++; len(all) > maxTags || pages > 1000 {
			return fmt.Errorf("the list of tags has no end: more than %d in %d parts", len(all)-1, pages-1)
		}
		return nil
	})
	return all, err
}

// fetchImage returns the archive of a chart in a registry. What is in the cache is not fetched
// again.
func (s *Sources) fetchImage(ctx context.Context, f Found) (Fetched, error) {
	manifest, cached, err := s.manifest(ctx, f)
	if err != nil {
		return Fetched{}, err
	}
	layer, err := layerOf(manifest, chartType, oldChartType)
	if err != nil {
		return Fetched{}, fmt.Errorf("%s@%s: %w", f.URL, f.Manifest, err)
	}
	mismatch := f.broken(string(layer.Digest))
	if mismatch != nil && !s.AllowMismatch {
		return Fetched{}, mismatch
	}
	data, cachedToo, err := s.blob(ctx, f, layer, chartContent)
	if err != nil {
		return Fetched{}, err
	}
	f.Digest = string(layer.Digest)
	return Fetched{Found: f, Data: data, Cached: cached && cachedToo, Mismatch: mismatch}, nil
}

// manifest reads the manifest of a chart.
func (s *Sources) manifest(ctx context.Context, f Found) (m ocispec.Manifest, cached bool, err error) {
	data, cached, err := s.manifestData(ctx, f)
	if err != nil {
		return m, false, err
	}
	if m, err = parseManifest(data); err != nil {
		return m, false, fmt.Errorf("%s@%s %w", f.URL, f.Manifest, err)
	}
	return m, cached, nil
}

// parseManifest parses the manifest of a chart. Errors say what it is, without a subject.
func parseManifest(data []byte) (m ocispec.Manifest, err error) {
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("has no manifest that can be read: %w", err)
	}
	if m.Config.MediaType != configType {
		return m, fmt.Errorf("is not a chart: its configuration has type %q", m.Config.MediaType)
	}
	return m, nil
}

// manifestData returns a manifest, from the cache if it is there.
func (s *Sources) manifestData(ctx context.Context, f Found) (data []byte, cached bool, err error) {
	if data, cached = s.cached(f.Manifest, manifestContent); cached {
		return data, true, nil
	}
	data, err = s.fetchManifest(ctx, f)
	return data, false, err
}

func (s *Sources) fetchManifest(ctx context.Context, f Found) ([]byte, error) {
	repo, err := s.repository(ctx, *f.image)
	if err != nil {
		return nil, err
	}
	data, err := readManifest(ctx, repo, f.Manifest, "the manifest of "+f.URL)
	if err != nil {
		return nil, explained("chart "+f.URL+"@"+f.Manifest, err)
	}
	if got := Digest(data); got != f.Manifest {
		return nil, &DigestError{What: "the manifest of " + f.URL, Want: f.Manifest, Got: got}
	}
	_, err = s.keep(data, manifestContent)
	return data, err
}

// readManifest reads a manifest of at most maxManifestBytes; what describes it in errors.
func readManifest(ctx context.Context, repo *remote.Repository, reference, what string) ([]byte, error) {
	_, body, err := repo.FetchReference(ctx, reference)
	if err != nil {
		return nil, announced(what, reference, err)
	}
	defer body.Close()
	return inputfile.ReadAll(body, what, maxManifestBytes)
}

// layerOf returns the first layer of one of the types, which are in order of preference. Errors:
// *noLayerError; the layer's digest is not SHA-256, or it is too large.
func layerOf(m ocispec.Manifest, types ...string) (ocispec.Descriptor, error) {
	for _, t := range types {
		for _, layer := range m.Layers {
			if layer.MediaType != t {
				continue
			}
			// go-digest's methods panic on what has no algorithm.
			if full, err := resolve.Digest(string(layer.Digest)); err != nil || full != string(layer.Digest) {
				return layer, fmt.Errorf("its layer has digest %q, which is not one of SHA-256", layer.Digest)
			}
			if layer.Size < 0 || layer.Size > MaxArchiveBytes {
				return layer, &inputfile.TooLargeError{Name: "its layer", Most: MaxArchiveBytes}
			}
			return layer, nil
		}
	}
	return ocispec.Descriptor{}, &noLayerError{types[0]}
}

// noLayerError says that a manifest has no layer of a type.
type noLayerError struct{ of string }

func (e *noLayerError) Error() string { return "it has no layer of type " + e.of }

// blob reads a layer whose size was checked.
func (s *Sources) blob(ctx context.Context, f Found, layer ocispec.Descriptor, kind string) (data []byte, cached bool, err error) {
	if data, ok := s.cached(string(layer.Digest), kind); ok {
		return data, true, nil
	}
	repo, err := s.repository(ctx, *f.image)
	if err != nil {
		return nil, false, err
	}
	if data, err = fetchBlob(ctx, repo, f.URL, layer); err != nil {
		return nil, false, err
	}
	_, err = s.keep(data, kind)
	return data, false, err
}

// fetchBlob reads a layer whose size was checked; at is the chart's URL, for errors.
func fetchBlob(ctx context.Context, repo *remote.Repository, at string, layer ocispec.Descriptor) ([]byte, error) {
	what, want := "the layer of "+at, string(layer.Digest)
	body, err := repo.Blobs().Fetch(ctx, layer)
	if err != nil {
		return nil, explained("chart "+at, announced(what, want, err))
	}
	defer body.Close()
	data, err := readBlob(body, layer)
	switch {
	case errors.Is(err, content.ErrMismatchedDigest):
		return nil, &DigestError{What: what, Want: want, Got: Digest(data)}
	case errors.Is(err, content.ErrTrailingData):
		return nil, &DigestError{What: what, Want: want}
	case err != nil:
		return nil, fmt.Errorf("fetch %s: %w", what, err)
	}
	return data, nil
}

// readBlob reads and verifies a layer. Memory grows with what is received, not by the declared
// size.
func readBlob(r io.Reader, layer ocispec.Descriptor) ([]byte, error) {
	var b bytes.Buffer
	verified := content.NewVerifyReader(r, layer)
	if _, err := b.ReadFrom(verified); err != nil {
		return b.Bytes(), err
	}
	return b.Bytes(), verified.Verify()
}
