package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/signature"
)

// maxSignatureBytes limits the size of a provenance file, or of another kind of signature.
const maxSignatureBytes = 4 << 20

// verifyProvenance fetches and checks the provenance file of a chart.
func (s *Sources) verifyProvenance(ctx context.Context, f *Fetched, d demand) (signature.Signature, error) {
	if err := s.FetchProvenance(ctx, f); err != nil {
		return signature.Signature{}, err
	}
	found, err := d.provenance(f.Evidence[ProvenanceSuffix], f.signedName(), f.Data, s.Verification.Now())
	if err != nil {
		return found, &UnverifiedError{What: f.Location(), Err: err}
	}
	return found, nil
}

// provenance checks a provenance file of an archive.
func (d demand) provenance(data []byte, name string, archive []byte, now time.Time) (signature.Signature, error) {
	found, err := signature.VerifyProvenance(data, signature.Archive{Name: name, Digest: Digest(archive)}, d.keys, now)
	switch {
	case err != nil || len(d.signers) == 0:
		return found, err
	case !found.By(d.signers):
		return found, fmt.Errorf("it is signed by %s, who is not one of the signers in sources.yaml", found)
	}
	return found, d.keys.Unclear(found, d.signers, now)
}

// signedName returns the file name under which a chart was signed; "" for one that has only a
// digest, or a tag that is not a version.
func (f Found) signedName() string {
	if f.image == nil {
		if name, err := resolve.FileName(f.URL); err == nil {
			return name
		}
		return f.FileName()
	}
	if f.Version == "" {
		return ""
	}
	return f.image.Name() + "-" + f.Version + ".tgz"
}

// FetchProvenance fetches the provenance file of a chart and adds it to f.Evidence.
// Errors: *UnverifiedError if there is none, *OfflineError.
func (s *Sources) FetchProvenance(ctx context.Context, f *Fetched) error {
	if f.Evidence[ProvenanceSuffix] != nil {
		return nil
	}
	data, err := s.provenance(ctx, *f)
	if err == nil {
		f.show(ProvenanceSuffix, data)
	}
	return err
}

func (s *Sources) provenance(ctx context.Context, f Fetched) ([]byte, error) {
	if f.image != nil {
		return s.provenanceLayer(ctx, f)
	}
	at, err := resolve.Beside(f.URL, ProvenanceSuffix)
	if err != nil {
		return nil, err
	}
	return s.beside(ctx, f, at, provenanceContent)
}

func (s *Sources) provenanceLayer(ctx context.Context, f Fetched) ([]byte, error) {
	m, _, err := s.manifest(ctx, f.Found)
	if err != nil {
		return nil, err
	}
	layer, err := layerOf(m, provenanceType)
	if _, none := errors.AsType[*noLayerError](err); none {
		return nil, &UnverifiedError{What: f.Location(), Err: errors.New("it was pushed without a provenance file")}
	}
	if err != nil {
		return nil, fmt.Errorf("%s@%s: %w", f.URL, f.Manifest, err)
	}
	if layer.Size > maxSignatureBytes {
		return nil, &inputfile.TooLargeError{Name: "the provenance file of " + f.Location(), Most: maxSignatureBytes}
	}
	data, _, err := s.blob(ctx, f.Found, layer, provenanceContent)
	return data, err
}

// beside fetches a signature of a chart from at, and stores it under the chart's digest, for
// --offline, as Helm does (Helm 4.3.1, pkg/downloader/chart_downloader.go, DownloadToCache).
func (s *Sources) beside(ctx context.Context, f Fetched, at, kind string) ([]byte, error) {
	if s.Offline {
		return s.keptBeside(f, f.Digest, kind)
	}
	data, err := s.download(ctx, f.Found, at, maxSignatureBytes)
	status, refused := errors.AsType[*StatusError](err)
	if refused && (status.Code == http.StatusNotFound || status.Code == http.StatusGone) {
		return nil, &UnverifiedError{What: f.Location(), Err: fmt.Errorf("there is no %s", resolve.Public(at))}
	}
	if err != nil {
		return nil, err
	}
	return data, replace(s.contentFile(f.Digest, kind), data)
}

// keptBeside returns a signature from the cache, stored under the digest of what is signed.
func (s *Sources) keptBeside(f Fetched, digest, kind string) ([]byte, error) {
	data, err := inputfile.Read(s.contentFile(digest, kind), maxSignatureBytes)
	if err != nil {
		return nil, &OfflineError{What: "the signature of " + f.Location()}
	}
	return data, nil
}
