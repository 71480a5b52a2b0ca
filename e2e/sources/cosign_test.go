//go:build cluster

package sources_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// cosigner signs as cosign does, with a key of its own.
type cosigner struct {
	t   testing.TB
	key *ecdsa.PrivateKey
}

func newCosigner(t testing.TB) cosigner {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	return cosigner{t, key}
}

func (s cosigner) publicKey() string {
	s.t.Helper()
	der, err := x509.MarshalPKIXPublicKey(s.key.Public())
	must(s.t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

func (s cosigner) sign(message []byte) []byte {
	s.t.Helper()
	sum := sha256.Sum256(message)
	out, err := s.key.Sign(rand.Reader, sum[:], crypto.SHA256)
	must(s.t, err)
	return out
}

// bundle returns what cosign sign --key makes for a manifest with the given digest, in hex.
func (s cosigner) bundle(hex string) []byte {
	s.t.Helper()
	const kind = "application/vnd.in-toto+json"
	payload := fmt.Sprintf(`{"_type":"https://in-toto.io/Statement/v1","subject":[{"digest":{"sha256":%q}}],"predicateType":"https://sigstore.dev/cosign/sign/v1","predicate":{}}`, hex)
	out, err := json.Marshal(map[string]any{
		"mediaType": bundleType, "verificationMaterial": map[string]any{"publicKey": map[string]any{"hint": "x"}},
		"dsseEnvelope": map[string]any{"payload": []byte(payload), "payloadType": kind, "signatures": []any{
			map[string]any{"sig": s.sign(fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(kind), kind, len(payload), payload))},
		}},
	})
	must(s.t, err)
	return out
}

// blob returns the bundle that cosign sign-blob --key makes.
func (s cosigner) blob(content []byte) string {
	s.t.Helper()
	out, err := json.Marshal(map[string]any{"mediaType": bundleType, "messageSignature": map[string]any{"signature": s.sign(content)}})
	must(s.t, err)
	return string(out)
}

const bundleType = "application/vnd.dev.sigstore.bundle.v0.3+json"

// attach pushes a bundle as a referrer of a manifest.
func attach(t testing.TB, host, path string, manifest, bundle []byte) {
	t.Helper()
	repo := repositoryOf(t, host, path)
	layer := ocispec.Descriptor{MediaType: bundleType, Digest: digest.FromBytes(bundle), Size: int64(len(bundle))}
	must(t, repo.Push(t.Context(), layer, bytes.NewReader(bundle)))
	subject := ocispec.Descriptor{MediaType: ocispec.MediaTypeImageManifest, Digest: digest.FromBytes(manifest), Size: int64(len(manifest))}
	_, err := oras.PackManifest(t.Context(), repo, oras.PackManifestVersion1_1, bundleType, oras.PackManifestOptions{
		Subject: &subject, Layers: []ocispec.Descriptor{layer}, ManifestAnnotations: map[string]string{ocispec.AnnotationCreated: "2026-01-01T00:00:00Z"},
	})
	must(t, err)
}

func repositoryOf(t testing.TB, host, path string) *remote.Repository {
	t.Helper()
	repo, err := remote.NewRepository(host + "/" + path)
	must(t, err)
	repo.PlainHTTP = true
	return repo
}

// TestCheck54Cosign signs charts in a registry with a key, and can ask nobody else.
func TestCheck54Cosign(t *testing.T) {
	r, h := plainRegistry(t), newHome(t)
	// Everything outside this machine is behind a proxy that does not exist.
	h.env = append(h.env, "HTTPS_PROXY=http://127.0.0.1:1", "HTTP_PROXY=http://127.0.0.1:1")
	anna, bert := newCosigner(t), newCosigner(t)
	h.write("anna.pub", anna.publicKey())
	h.write("bert.pub", bert.publicKey())
	to := "oci://" + r.Host + "/charts"
	manifests := map[string][]byte{}
	for _, name := range []string{"signed", "bare", "other", "both", "old"} {
		h.ok("push", h.chartFile(name, "1.0.0", ""), to)
		manifests[name] = fetchManifest(t, "http://"+r.Host+"/v2/charts/"+name+"/manifests/1.0.0")
	}
	attach(t, r.Host, "charts/signed", manifests["signed"], anna.bundle(sourcetest.Digest(manifests["signed"])))
	attach(t, r.Host, "charts/other", manifests["other"], anna.bundle(sourcetest.Digest(manifests["bare"])))
	attach(t, r.Host, "charts/both", manifests["both"], bert.bundle(sourcetest.Digest(manifests["both"])))
	attach(t, r.Host, "charts/both", manifests["both"], anna.bundle(sourcetest.Digest(manifests["both"])))
	anna.signAsBefore(r.Host, "charts/old", manifests["old"])
	for _, name := range []string{"signed", "both", "old"} {
		args := []string{"template", to + "/" + name, "--verify-key", "anna.pub"}
		if r := h.ok(args...); !strings.Contains(r.out, "ConfigMap") || !strings.Contains(r.err, "signed by key sha256:") {
			t.Errorf("%s: %s%s", name, r.out, r.err)
		}
	}
	refused := func(why, name, key string, more ...string) {
		t.Helper()
		args := append([]string{"template", to + "/" + name, "--verify", "--verify-key", key}, more...)
		if r := h.fails(8, why, args...); r.out != "" {
			t.Errorf("%s was rendered", name)
		}
	}
	refused("the signature was not made with this key", "signed", "bert.pub")
	refused("the signature was not made with this key", "old", "bert.pub")
	refused("the registry has none", "bare", "anna.pub")
	refused("another digest", "other", "anna.pub")
	if out := h.ok("verify", to+"/signed:1.0.0", "--verify-key", "anna.pub").out; !strings.Contains(out, "Signed with cosign key: sha256:") {
		t.Error(out)
	}
	pin := h.pinned(to+"/signed", "--against-version", "1.0.0", "--verify-key", "anna.pub")
	if s := pin.Signature; s == nil || s.Method != "cosign" || len(s.Key) != 71 {
		t.Errorf("the plan says %+v", s)
	}
	h.write(".config/helm/kubectl-release/sources.yaml", "verify: [{prefix: "+to+", key: "+h.path("anna.pub")+"}]\n")
	h.ok("template", to+"/signed")
	h.fails(8, "the registry has none", "template", to+"/bare")
	// A chart's referrers may be deleted: then it is no longer signed.
	must(t, repositoryOf(t, r.Host, "charts/signed").Delete(t.Context(), mustResolve(t, r.Host, "charts/signed", strings.Replace("sha256:"+sourcetest.Digest(manifests["signed"]), ":", "-", 1))))
	h.ok("template", to+"/signed", "--offline")
	h.fails(8, "the registry has none", "template", to+"/signed")
}

func mustResolve(t testing.TB, host, path, reference string) ocispec.Descriptor {
	t.Helper()
	d, err := repositoryOf(t, host, path).Resolve(t.Context(), reference)
	must(t, err)
	return d
}

// signAsBefore puts a signature where cosign 2 does: under a tag.
func (s cosigner) signAsBefore(host, path string, manifest []byte) {
	s.t.Helper()
	repo := repositoryOf(s.t, host, path)
	hex := sourcetest.Digest(manifest)
	payload := fmt.Appendf(nil, `{"critical":{"identity":{"docker-reference":"x"},"image":{"docker-manifest-digest":"sha256:%s"},"type":"cosign container image signature"},"optional":null}`, hex)
	layer := ocispec.Descriptor{
		MediaType: "application/vnd.dev.cosign.simplesigning.v1+json", Digest: digest.FromBytes(payload), Size: int64(len(payload)),
		Annotations: map[string]string{"dev.cosignproject.cosign/signature": base64.StdEncoding.EncodeToString(s.sign(payload))},
	}
	must(s.t, repo.Push(s.t.Context(), layer, bytes.NewReader(payload)))
	made, err := oras.PackManifest(s.t.Context(), repo, oras.PackManifestVersion1_0, ocispec.MediaTypeImageConfig, oras.PackManifestOptions{Layers: []ocispec.Descriptor{layer}})
	must(s.t, err)
	must(s.t, repo.Tag(s.t.Context(), made, "sha256-"+hex+".sig"))
}

// An archive outside a registry is signed by the bundle next to it.
func TestCosignedArchives(t *testing.T) {
	a, h, anna := repositoryA(t, sourcetest.Options{}), newHome(t), newCosigner(t)
	h.write("anna.pub", anna.publicKey())
	h.ok("repo", "add", "a", a.URL)
	verify := []string{"verify", "a/alpha", "--verify-key", "anna.pub"}
	h.fails(8, "there is no "+a.URL+"/alpha-1.0.0.tgz.sigstore.json", verify...)
	a.Put("/alpha-1.0.0.tgz.sigstore.json", []byte(anna.blob(a.File("/alpha-1.0.0.tgz"))))
	h.ok(verify...)
	h.ok(append(verify, "--offline")...)
	a.Put("/alpha-1.0.0.tgz.sigstore.json", []byte(anna.blob(a.File("/alpha-0.9.0.tgz"))))
	h.fails(8, "the signature was not made with this key", verify...)
	file := h.chartFile("web", "1.0.0", "")
	h.fails(8, "there is no "+file+".sigstore.json", "template", file, "--verify-key", "anna.pub")
	h.write(file+".sigstore.json", anna.blob([]byte(h.read(file))))
	h.ok("template", file, "--verify-key", "anna.pub")
	h.write("no.pub", "x")
	h.fails(1, "it is not a public key", "template", file, "--verify-key", "no.pub")
	must(t, os.Remove(h.path("no.pub")))
	h.fails(1, "read the keys", "template", file, "--verify-key", "no.pub")
}

// TestCheck54Keyless signs with an identity, using the test's own instance of Sigstore; a trusted root
// on this machine describes all of it.
func TestCheck54Keyless(t *testing.T) {
	r, h := plainRegistry(t), newHome(t)
	h.env = append(h.env, "HTTPS_PROXY=http://127.0.0.1:1", "HTTP_PROXY=http://127.0.0.1:1")
	sigstore, another := sourcetest.NewSigstore(t), sourcetest.NewSigstore(t)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	anna := sourcetest.Keyless{Identity: "anna@example.com", Issuer: "https://accounts.example.com", Certified: at, Logged: at.Add(time.Minute)}
	tiles, late := anna, anna
	tiles.Rekor2, late.Rekor2 = true, true
	late.Logged = at.Add(time.Hour)
	bert := anna
	bert.Identity = "bert@example.com"
	to := "oci://" + r.Host + "/charts"
	for name, sign := range map[string]func(digest string) []byte{
		"signed":  func(digest string) []byte { return sigstore.SignManifest(anna, digest) },
		"berts":   func(digest string) []byte { return sigstore.SignManifest(bert, digest) },
		"tiles":   func(digest string) []byte { return sigstore.SignManifest(tiles, digest) },
		"late":    func(digest string) []byte { return sigstore.SignManifest(late, digest) },
		"foreign": func(digest string) []byte { return another.SignManifest(anna, digest) },
	} {
		h.ok("push", h.chartFile(name, "1.0.0", ""), to)
		manifest := fetchManifest(t, "http://"+r.Host+"/v2/charts/"+name+"/manifests/1.0.0")
		attach(t, r.Host, "charts/"+name, manifest, sign(sourcetest.Digest(manifest)))
	}
	by := []string{"--certificate-identity", anna.Identity, "--certificate-oidc-issuer", anna.Issuer}
	verify := func(name string, flags ...string) []string {
		return append([]string{"verify", to + "/" + name}, flags...)
	}
	h.fails(1, "trusted_root.json", verify("signed", by...)...)
	h.write(".config/helm/kubectl-release/trusted_root.json", string(sigstore.TrustedRoot()))
	h.write("another.json", string(another.TrustedRoot()))
	out := h.ok(verify("signed", by...)...).out
	for _, want := range []string{"Signed by: anna@example.com", "Identity of: https://accounts.example.com", "Entry in Rekor's log: 41", "Chart Hash Verified: sha256:"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in %s", want, out)
		}
	}
	if out := h.ok(verify("tiles", by...)...).out; !strings.Contains(out, "Entry in Rekor's log: 1\n") {
		t.Error(out)
	}
	h.fails(8, "has expired", verify("late", by...)...)
	h.ok(verify("berts", "--certificate-identity-regexp", "@example\\.com$", "--certificate-oidc-issuer", anna.Issuer)...)
	h.ok(verify("foreign", append(by, "--trusted-root", "another.json")...)...)
	h.fails(8, "is not the required identity", verify("berts", by...)...)
	h.fails(8, "does not know the log", verify("foreign", by...)...)
	for why, flags := range map[string][]string{
		"must be given together": by[:2], "give one of": by[2:],
		"give one of a keyring":      {"--certificate-identity", "", "--certificate-oidc-issuer", anna.Issuer},
		"give one of a keyring, a k": append([]string{"--verify-key", "x"}, by...),
	} {
		h.fails(1, why, append([]string{"template", to + "/signed"}, flags...)...)
	}
	pin := h.pinned(append([]string{to + "/signed", "--against-version", "1.0.0"}, by...)...)
	if s := pin.Signature; s == nil || s.Signer != anna.Identity || s.Issuer != anna.Issuer || s.LogIndex != 41 {
		t.Errorf("the plan says %+v", s)
	}
	h.ok(append([]string{"template", to + "/signed", "--offline"}, by...)...)
	h.write(".config/helm/kubectl-release/sources.yaml", "verify: [{prefix: "+to+", identity: anna@example.com, issuer: https://accounts.example.com}]\n")
	if r := h.ok("template", to+"/signed"); !strings.Contains(r.err, "signed by anna@example.com of https://accounts.example.com") {
		t.Error(r.err)
	}
	h.fails(8, "is not the required identity", "template", to+"/berts")
	file := h.chartFile("web", "1.0.0", "")
	h.write(file+".sigstore.json", string(sigstore.SignBlob(anna, []byte(h.read(file)))))
	h.ok(append([]string{"template", file}, by...)...)
}
