package source

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// newKey makes a cosign key, and a file with its public half.
func newKey(t *testing.T) (*ecdsa.PrivateKey, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	must(t, err)
	file := filepath.Join(t.TempDir(), "cosign.pub")
	must(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o644))
	return key, file
}

// A signature of more than 4 MiB is not read, wherever it is.
func TestLargeSignatures(t *testing.T) {
	large := make([]byte, maxSignatureBytes+1)
	alpha := sourcetest.Chart(t, "alpha", "1.0.0", "")
	server, s := sourcetest.Serve(t, sourcetest.Options{}), ours(t)
	server.Put("/alpha-1.0.0.tgz", alpha)
	server.Put("/alpha-1.0.0.tgz.prov", large)
	server.Put("/alpha-1.0.0.tgz.sigstore.json", large)
	at := resolve.Reference{Kind: resolve.Remote, URL: server.URL + "/alpha-1.0.0.tgz"}
	refused := func(what string, err error) {
		t.Helper()
		if _, is := errors.AsType[*inputfile.TooLargeError](err); !is {
			t.Errorf("%s: %v", what, err)
		}
	}
	f, err := fetch(t, s, at)
	must(t, err)
	refused("a provenance file", s.FetchProvenance(t.Context(), &f))
	_, key := newKey(t)
	s.Settings.Verify = []resolve.Rule{{Prefix: server.URL, Key: key}}
	_, err = fetch(t, s, at)
	refused("a bundle", err)

	chart, signature := newBlob(chartType, alpha), newBlob(provenanceType, large)
	manifest := layers(t, configType, chart.Descriptor, signature.Descriptor)
	for path, content := range map[string][]byte{
		"manifests/1.0.0": manifest, "manifests/" + Digest(manifest): manifest, "blobs/" + Digest(alpha): alpha, "blobs/" + Digest(large): large,
	} {
		server.Put("/v2/charts/alpha/"+path, content)
	}
	f, err = fetch(t, s, resolve.Reference{Kind: resolve.Registry, Image: resolve.Image{Host: strings.TrimPrefix(server.URL, "http://"), Path: "charts/alpha", Tag: "1.0.0"}})
	must(t, err)
	refused("a layer", s.FetchProvenance(t.Context(), &f))
}

// layers returns a manifest with layers.
func layers(t *testing.T, config string, layers ...ocispec.Descriptor) []byte {
	t.Helper()
	return marshalled(t, ocispec.Manifest{Config: ocispec.Descriptor{MediaType: config, Digest: ocispec.DescriptorEmptyJSON.Digest, Size: 2}, Layers: layers})
}

// marshalled returns JSON.
func marshalled(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	must(t, err)
	return data
}
