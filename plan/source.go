package plan

import (
	"fmt"
	"maps"
)

// ChartSource is where a chart is from, and what pins the plan to its bytes. It holds no
// credentials.
type ChartSource struct {
	// Reference is the chart as it was named.
	Reference string `json:"reference"`
	// Repository is the URL of the repository whose index was asked; empty where none was.
	Repository string `json:"repository,omitempty"`
	// Name and Version are those that were chosen, as far as the source says.
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
	// URL is where the chart is: an archive, or oci://HOST/PATH:TAG; the path, as it was
	// named, of an archive on the machine where the plan was made.
	URL string `json:"url"`
	// Digest is "sha256:" and hex: the archive's, or for a registry its manifest's.
	Digest string `json:"digest"`
	// Fixed says that the reference names the digest, so that it can't come to mean
	// other bytes.
	Fixed bool `json:"fixed,omitempty"`
	// Signature is whose signature was verified before the chart was rendered; null where
	// none was asked for.
	Signature *ChartSignature `json:"signature,omitempty"`
}

// ChartSignature is who has signed a chart.
type ChartSignature struct {
	// Method is pgp, for a provenance file, or cosign.
	Method string `json:"method"`
	// Signer is the name of an OpenPGP key, or the identity that has signed with cosign;
	// empty for a key of cosign's.
	Signer string `json:"signer,omitempty"`
	// Key is an OpenPGP fingerprint, or for cosign "sha256:" and the public key's SHA-256.
	Key string `json:"key"`
	// Issuer is the URL of the OpenID provider that knows an identity, and LogIndex the
	// number of its signature in Rekor's log; both are there for identities alone.
	Issuer   string `json:"issuer,omitempty"`
	LogIndex int64  `json:"logIndex,omitempty"`
}

// String is "Some Name <some@example.com>, pgp key 9C5A…", or for an identity
// "some@example.com of https://accounts.example.com, cosign, log entry 7".
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

// Moved says in one sentence that the reference has come to mean other bytes, when now,
// the digest that it means, is another one than it was; else "".
func (s ChartSource) Moved(now string) string {
	if s.Fixed || now == s.Digest {
		return ""
	}
	return fmt.Sprintf("%s was %s when the plan was made, and is %s now", s.URL, s.Digest, now)
}

// Annotations of the chart in a release's record that say where the chart came from. Helm ignores
// them and keeps them with the chart, also in rollbacks.
const (
	sourceAnnotation     = "kubectl-release/source"
	repositoryAnnotation = "kubectl-release/repository"
	digestAnnotation     = "kubectl-release/digest"
	signatureAnnotation  = "kubectl-release/signed-by"
)

// Annotate gives the annotations of a chart with those of its source, nil for a folder or
// a file. What a chart itself claims is left out.
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

// AnnotatedSource returns a chart's source as annotations describe it, with URL, Repository and
// Digest; nil when they do not.
func AnnotatedSource(annotations map[string]string) *ChartSource {
	if annotations[sourceAnnotation] == "" {
		return nil
	}
	return &ChartSource{URL: annotations[sourceAnnotation], Repository: annotations[repositoryAnnotation], Digest: annotations[digestAnnotation]}
}

// ChartLock is the lock of a chart's dependencies.
type ChartLock struct {
	// File is Chart.lock, or requirements.lock of a v1 chart; empty where there is none.
	File string `json:"file,omitempty"`
	// Digest is the lock's own, of what Chart.yaml says and what was chosen.
	Digest string `json:"digest,omitempty"`
	// Dependencies is how many Chart.yaml has, Pinned how many of them have the digest of
	// their archive in the lock; an archive with another digest is not rendered.
	Dependencies int `json:"dependencies"`
	Pinned       int `json:"pinned"`
	// OutOfSync says why the lock is not that of Chart.yaml; empty where it is.
	OutOfSync string `json:"outOfSync,omitempty"`
}

// String is "Chart.lock in sync, 2 of 3 archives by their digests".
func (l ChartLock) String() string {
	switch {
	case l.File == "":
		return "no Chart.lock: dependencies are what charts/ has"
	case l.OutOfSync != "":
		return l.File + ": " + l.OutOfSync
	}
	return fmt.Sprintf("%s in sync, %d of %d archives by their digests", l.File, l.Pinned, l.Dependencies)
}
