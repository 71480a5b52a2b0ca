package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

func (s *Sources) findConfigured(ctx context.Context, r resolve.Reference) (Found, error) {
	repositories, err := s.Repositories()
	if err != nil {
		return Found{}, err
	}
	e, ok := repositories.Find(r.Repository)
	if !ok {
		return Found{}, &NoRepositoryError{Name: r.Repository}
	}
	index, err := s.readIndex(e.Name, resolve.Only(r.Name))
	if err != nil {
		return Found{}, err
	}
	f := Found{Repository: e.Name, home: e.URL, access: accessOf(e)}
	if s.bind(e.URL) {
		f.access = s.Access.or(f.access)
	}
	return s.choose(ctx, f, index, r)
}

func (s *Sources) findUnconfigured(ctx context.Context, r resolve.Reference) (Found, error) {
	name := unmanaged(r.URL)
	access := s.accessTo(r.URL)
	if !s.Offline {
		if err := s.refresh(ctx, resolve.Repository{Name: name, URL: r.URL}, access); err != nil {
			return Found{}, err
		}
	}
	index, err := s.readIndex(name, resolve.Only(r.Name))
	if _, none := errors.AsType[*NoIndexError](err); none {
		return Found{}, &OfflineError{What: "the index of " + resolve.Public(r.URL)}
	}
	if err != nil {
		return Found{}, err
	}
	return s.choose(ctx, Found{Repository: resolve.Public(r.URL), home: r.URL, access: access}, index, r)
}

// choose completes f with what the index of its repository says about the wanted version.
func (s *Sources) choose(ctx context.Context, f Found, index *resolve.Index, r resolve.Reference) (Found, error) {
	entry, warnings, err := index.Find(r.Name, r.Version)
	f.Warnings = warnings
	if err != nil {
		return f, fmt.Errorf("repository %s: %w", f.Repository, err)
	}
	f.Name, f.Version = entry.Name, entry.Version
	what := fmt.Sprintf("chart %s %s of repository %s", f.Name, f.Version, f.Repository)
	if len(entry.URLs) == 0 {
		return f, fmt.Errorf("repository %s lists no URL for chart %s %s", f.Repository, f.Name, f.Version)
	}
	if f.URL, err = resolve.ChartURL(f.home, entry.URLs[0]); err != nil {
		return f, fmt.Errorf("%s: %w", what, err)
	}
	if entry.Digest != "" {
		if f.Digest, err = resolve.Digest(entry.Digest); err != nil {
			return f, fmt.Errorf("%s: %w", what, err)
		}
	}
	if resolve.IsRegistry(f.URL) {
		if f, err = s.listedImage(ctx, f, r.Digest); err != nil {
			return f, fmt.Errorf("%s: %w", what, err)
		}
		return f, nil
	}
	if r.Digest != "" && f.Digest != "" && f.Digest != r.Digest {
		return f, &DigestError{What: what, Want: r.Digest, Got: f.Digest}
	}
	f.Digest = cmp.Or(r.Digest, f.Digest)
	return f, nil
}

// listedImage completes f, whose URL in an index is that of an image, with the image's manifest.
// A URL without a tag means the chart's version, as in Helm 4.3.1 (pkg/getter/ocigetter.go, get).
// The digests of the index and of the reference, wanted, may be those of the manifest or of the
// archive. The repository's credentials are not for the registry.
func (s *Sources) listedImage(ctx context.Context, f Found, wanted string) (Found, error) {
	image, digest, err := resolve.ParseImage(f.URL)
	if err != nil {
		return f, err
	}
	image.Tag = cmp.Or(image.Tag, resolve.TagOf(f.Version))
	found, err := s.findImage(ctx, resolve.Reference{Kind: resolve.Registry, Image: image, Digest: digest})
	if err != nil {
		return f, err
	}
	for _, d := range []string{f.Digest, wanted} {
		if d != "" {
			found.promised = append(found.promised, d)
		}
	}
	found.Repository, found.Name, found.Version, found.Warnings, found.home = f.Repository, f.Name, f.Version, f.Warnings, f.home
	return found, nil
}

// broken returns an error for a promised digest that is neither that of the manifest nor that of the
// archive.
func (f *Found) broken(archive string) *DigestError {
	for _, d := range f.promised {
		if d != f.Manifest && d != archive {
			return &DigestError{What: "the archive of " + f.URL, Want: d, Got: archive}
		}
	}
	return nil
}
