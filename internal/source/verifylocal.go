package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/signature"
)

// ReadVerified reads a local archive and checks that it is signed as flags demand, with the
// files next to it (Fetched.Evidence). Errors: *UnverifiedError.
func (s *Sources) ReadVerified(file string) (Fetched, error) {
	f := Fetched{Cached: true}
	data, err := inputfile.Read(file, MaxArchiveBytes)
	if err != nil {
		return f, err
	}
	f.Data, f.Digest, f.URL = data, Digest(data), file
	wanted, err := s.demands()
	if err != nil {
		return f, err
	}
	for _, d := range wanted {
		var found signature.Signature
		if d.party == nil {
			found, err = s.verifyLocalProvenance(&f, d)
		} else {
			found, err = verifyLocalBundle(&f, d.party)
		}
		if err != nil {
			return f, err
		}
		f.Signature = &found
	}
	return f, nil
}

func (s *Sources) verifyLocalProvenance(f *Fetched, d demand) (signature.Signature, error) {
	if err := f.readEvidence(ProvenanceSuffix); err != nil {
		return signature.Signature{}, err
	}
	found, err := d.provenance(f.Evidence[ProvenanceSuffix], filepath.Base(f.URL), f.Data, s.Verification.Now())
	if err != nil {
		err = &UnverifiedError{What: f.URL, Err: err}
	}
	return found, err
}

// verifyLocalBundle checks a signature of the archive or, if the manifest that it had in a
// registry is there, of that.
func verifyLocalBundle(f *Fetched, by signature.Party) (signature.Signature, error) {
	if err := f.readEvidence(bundleSuffix); err != nil {
		return signature.Signature{}, err
	}
	subject := signature.Subject{Digest: f.Digest, Data: f.Data}
	err := f.readEvidence(manifestSuffix)
	if _, none := errors.AsType[*UnverifiedError](err); err != nil && !none {
		return signature.Signature{}, err
	}
	if manifest, is := f.Evidence[manifestSuffix]; is {
		if err := holds(manifest, f.Digest); err != nil {
			return signature.Signature{}, &UnverifiedError{What: f.URL, Err: err}
		}
		subject = signature.Subject{Digest: Digest(manifest), Data: manifest}
	}
	found, err := verifySignature(f.Evidence[bundleSuffix], subject, by)
	if err != nil {
		err = &UnverifiedError{What: f.URL, Err: err}
	}
	return found, err
}

// readEvidence reads a file next to the archive. Errors: *UnverifiedError if there is none.
func (f *Fetched) readEvidence(suffix string) error {
	data, err := inputfile.Read(f.URL+suffix, maxSignatureBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return &UnverifiedError{What: f.URL, Err: fmt.Errorf("there is no %s", f.URL+suffix)}
	}
	if err == nil {
		f.show(suffix, data)
	}
	return err
}

// holds returns an error unless a manifest is for the archive with a digest.
func holds(manifest []byte, archive string) error {
	var m ocispec.Manifest
	if err := json.Unmarshal(manifest, &m); err != nil {
		return fmt.Errorf("its manifest can't be read: %w", err)
	}
	layer, err := layerOf(m, chartType, oldChartType)
	if err != nil {
		return fmt.Errorf("its manifest: %w", err)
	}
	if string(layer.Digest) != archive {
		return fmt.Errorf("its manifest is that of another archive, %s", layer.Digest)
	}
	return nil
}
