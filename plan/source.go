package plan

import (
	"fmt"
	"maps"
)

// ChartSource is where a chart comes from, with the digest that pins the plan to its bytes. It
// holds no credentials.
type ChartSource struct {
	// Reference is the chart reference as the user wrote it.
	Reference string `json:"reference"`
	// Repository is the URL of the chart repository whose index was used; empty if there was none.
	Repository string `json:"repository,omitempty"`
	// Name and Version are the chart and version that were chosen, as far as the source says.
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
	// URL is where the chart is: the URL of an archive, or oci://HOST/PATH:TAG; for a local archive
	// its path, as the user wrote it.
	URL string `json:"url"`
	// Digest is "sha256:" and the checksum in hex, of the archive or, in a registry, of the
	// manifest.
	Digest string `json:"digest"`
	// Fixed says that the reference contains the digest, so it always means the same bytes.
	Fixed bool `json:"fixed,omitempty"`
	// Signature is the signature that was verified before the chart was rendered; null if none was
	// asked for.
	Signature *ChartSignature `json:"signature,omitempty"`
}

// ChartSignature says who signed a chart.
type ChartSignature struct {
	// Method is pgp, for a provenance file, or cosign.
	Method string `json:"method"`
	// Signer is the name of the OpenPGP key, or the identity that signed with cosign; empty for a
	// cosign key.
	Signer string `json:"signer,omitempty"`
	// Key is an OpenPGP fingerprint, or for cosign "sha256:" and the public key's SHA-256.
	Key string `json:"key"`
	// Issuer is the URL of the OpenID provider that vouches for the identity, and LogIndex the
	// index of its signature in Rekor's log; only identities have them.
	Issuer   string `json:"issuer,omitempty"`
	LogIndex int64  `json:"logIndex,omitempty"`
}

// String returns "Some Name <some@example.com>, pgp key 9C5A…", or for an
// identity "some@example.com of https://accounts.example.com, cosign, log
// entry 7".
func (s ChartSignature) String() string {
	if s.Issuer != "" {
		return fmt.Sprintf("%s of %s, %s, log entry %d", s.Signer, s.Issuer, s.Method, s.LogIndex)
	}
	text := s.Method + " key " + s.Key
	if s.Signer != "" {
		text = s.Signer + ", " + text
	}
	return text
}

// Moved says in one sentence that the reference now means other bytes, or returns "" if it does
// not. now is the digest that it has at present.
func (s ChartSource) Moved(now string) string {
	if s.Fixed || now == s.Digest {
		return ""
	}
	return fmt.Sprintf("%s was %s when the plan was made, and is %s now", s.URL, s.Digest, now)
}

// Annotations of the chart in a release record that say where the chart came from. Helm ignores
// them and keeps them with the chart, even in rollbacks.
const (
	sourceAnnotation     = "kubectl-release/source"
	repositoryAnnotation = "kubectl-release/repository"
	digestAnnotation     = "kubectl-release/digest"
	signatureAnnotation  = "kubectl-release/signed-by"
)

// Annotate returns a chart's annotations with those for its source added; s is nil for a folder or
// a file. What the chart itself claims about its source is dropped.
func (s *ChartSource) Annotate(of map[string]string) map[string]string {
	out := maps.Clone(of)
	for _, key := range []string{sourceAnnotation, repositoryAnnotation, digestAnnotation, signatureAnnotation} {
		delete(out, key)
	}
	if s == nil {
		return out
	}
	if out == nil {
		out = map[string]string{}
	}
	out[sourceAnnotation], out[digestAnnotation] = s.URL, s.Digest
	if s.Repository != "" {
		out[repositoryAnnotation] = s.Repository
	}
	if s.Signature != nil {
		out[signatureAnnotation] = s.Signature.String()
	}
	return out
}

// AnnotatedSource returns a chart's source as its annotations describe it (URL, Repository and
// Digest), or nil if they don't.
func AnnotatedSource(annotations map[string]string) *ChartSource {
	if annotations[sourceAnnotation] == "" {
		return nil
	}
	return &ChartSource{URL: annotations[sourceAnnotation], Repository: annotations[repositoryAnnotation], Digest: annotations[digestAnnotation]}
}

// ChartLock describes the lock file of a chart's dependencies.
type ChartLock struct {
	// File is Chart.lock, or requirements.lock for a v1 chart; empty if there is none.
	File string `json:"file,omitempty"`
	// Digest is the digest in the lock file, of the dependencies in Chart.yaml and the versions
	// chosen for them.
	Digest string `json:"digest,omitempty"`
	// Dependencies is the number of dependencies in Chart.yaml, Pinned the number of those whose
	// archive's digest is in the lock file; an archive with another digest is not rendered.
	Dependencies int `json:"dependencies"`
	Pinned       int `json:"pinned"`
	// OutOfSync says why the lock file does not match Chart.yaml; empty if it does.
	OutOfSync string `json:"outOfSync,omitempty"`
}

// String returns, for example, "Chart.lock in sync, 2 of 3 archives pinned by digest".
func (l ChartLock) String() string {
	switch {
	case l.File == "":
		return "no Chart.lock: dependencies are taken from charts/"
	case l.OutOfSync != "":
		return l.File + ": " + l.OutOfSync
	}
	return fmt.Sprintf("%s in sync, %d of %d archives pinned by digest", l.File, l.Pinned, l.Dependencies)
}
