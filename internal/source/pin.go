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

// askingTime is how long an answer of digestNow is waited for.
const askingTime = 30 * time.Second

// Pin is what a plan keeps of where the chart is from. r is the reference that was
// found, named is how it was written.
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

// Moved says in a sentence that a plan's source means other bytes by now than were
// planned, or "". Nobody is asked where it can't: nil is a chart that was not fetched.
// Errors: nobody can be asked, or the version has gone.
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

// digestNow is the digest that a plan's source has by now: one HEAD of a registry's tag,
// one conditional request for a repository's index, or a look at a file. Where no index says
// the digest, and with AllowMismatch, the archive is read for it, and not kept. Errors: those
// of Find; the version has gone, or the plan does not hold the whole URL.
func (s *Sources) digestNow(ctx context.Context, from plan.ChartSource) (string, error) {
	ctx, stop := context.WithTimeout(ctx, askingTime)
	defer stop()
	if resolve.IsRegistry(from.URL) {
		return s.manifestNow(ctx, from.URL)
	}
	if !strings.Contains(from.URL, "://") { // an archive here, as it was named
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
	data, err := s.download(ctx, found, found.URL)
	if err != nil {
		return "", err
	}
	return Digest(data), nil
}

// manifestNow is the digest of a tag. Nothing is noted: --offline goes on with what was
// fetched.
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

// findAgain finds the version that a plan has chosen. A repository need not have the name
// here that it had where the plan was made, nor any.
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
