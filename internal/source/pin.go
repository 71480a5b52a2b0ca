package source

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/plan"
)

// askingTime limits how long digestNow takes.
const askingTime = 30 * time.Second

// Pin returns what a plan records about where the chart is from. r is the reference that was
// found, named is how the user wrote it.
func (f Fetched) Pin(r resolve.Reference, named string) *plan.ChartSource {
	pin := &plan.ChartSource{
		Reference: resolve.Public(named), Name: f.Name, Version: f.Version, URL: resolve.Public(f.URL),
		Digest: cmp.Or(f.Manifest, f.Digest), Fixed: r.Digest != "" && r.Kind != resolve.Local,
	}
	if r.Kind == resolve.Configured || r.Kind == resolve.Unconfigured {
		pin.Repository = resolve.Public(f.home)
	}
	if f.Signature != nil {
		pin.Signature = &plan.ChartSignature{Method: string(f.Signature.Method), Signer: f.Signature.Signer(), Key: f.Signature.Key, Issuer: f.Signature.Issuer, LogIndex: f.Signature.LogIndex}
	}
	return pin
}

// Moved returns a sentence if a plan's source now means other bytes than were planned, or "".
// Nothing is asked if from is nil, for a chart that was not fetched, or fixed by a digest.
// Errors: the source can't be reached, or no longer has the version.
func (s *Sources) Moved(ctx context.Context, from *plan.ChartSource) (string, error) {
	if from == nil || from.Fixed {
		return "", nil
	}
	now, err := s.digestNow(ctx, *from)
	if err != nil {
		return "", fmt.Errorf("the chart is applied as it was planned; whether %s is still %s is not known: %w", from.URL, from.Digest, err)
	}
	return from.Moved(now), nil
}

// digestNow returns the digest that a plan's source has now, with one HEAD of a registry's tag,
// one conditional request for a repository's index, or by reading a file. If no index has the
// digest, or with AllowMismatch, the archive is downloaded for it, and not stored. Errors: those
// of Find; the version no longer exists; the plan does not have the complete URL.
func (s *Sources) digestNow(ctx context.Context, from plan.ChartSource) (string, error) {
	ctx, stop := context.WithTimeout(ctx, askingTime)
	defer stop()
	if resolve.IsRegistry(from.URL) {
		return s.manifestNow(ctx, from.URL)
	}
	if !strings.Contains(from.URL, "://") { // a local archive
		data, err := inputfile.Read(from.URL, MaxArchiveBytes)
		return Digest(data), err
	}
	found, err := s.findAgain(ctx, from)
	if err != nil {
		return "", err
	}
	if found.Digest != "" && !s.AllowMismatch {
		return found.Digest, nil
	}
	data, err := s.download(ctx, found, found.URL, MaxArchiveBytes)
	if err != nil {
		return "", err
	}
	return Digest(data), nil
}

// manifestNow returns the manifest digest of a tag. It is not noted: --offline keeps using what
// was fetched.
func (s *Sources) manifestNow(ctx context.Context, at string) (string, error) {
	image, _, err := resolve.ParseImage(at)
	if err != nil {
		return "", err
	}
	repo, err := s.repository(ctx, image)
	if err != nil {
		return "", err
	}
	manifest, err := repo.Resolve(ctx, image.Tag)
	if err != nil {
		return "", explained("chart "+image.String(), err)
	}
	return manifest.Digest.String(), nil
}

// findAgain finds the version that a plan chose. The repository may have another name here than
// where the plan was made, or none.
func (s *Sources) findAgain(ctx context.Context, from plan.ChartSource) (Found, error) {
	ref := resolve.Reference{Kind: resolve.Remote, URL: from.URL, Name: from.Name, Version: resolve.Wanted{Version: from.Version}}
	if from.Repository != "" {
		ref.Kind, ref.URL = resolve.Unconfigured, from.Repository
		known, err := s.Repositories()
		if err != nil {
			return Found{}, err
		}
		for _, e := range known.All() {
			if resolve.Public(e.URL) == from.Repository {
				ref.Kind, ref.Repository = resolve.Configured, e.Name
			}
		}
	}
	if ref.Kind != resolve.Configured && resolve.Withheld(ref.URL) {
		return Found{}, fmt.Errorf("the plan does not hold the query of %s", ref.URL)
	}
	if err := s.Refresh(ctx, []resolve.Reference{ref}, false); err != nil {
		return Found{}, err
	}
	found, err := s.Find(ctx, ref)
	if err == nil && found.Version != from.Version {
		err = &NotThereError{What: fmt.Sprintf("version %s of chart %s any more", from.Version, from.Name)}
	}
	return found, err
}
