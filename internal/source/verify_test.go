package source

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/signature"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

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
	_, key := sourcetest.CosignKey(t)
	s.Settings.Verify = []resolve.Rule{{Prefix: server.URL, Key: key}}
	_, err = fetch(t, s, at)
	refused("a bundle", err)

	archive, provenance := newBlob(chartType, alpha), newBlob(provenanceType, large)
	manifest := layers(t, configType, archive.Descriptor, provenance.Descriptor)
	for path, content := range map[string][]byte{
		"manifests/1.0.0": manifest, "manifests/" + Digest(manifest): manifest, "blobs/" + Digest(alpha): alpha, "blobs/" + Digest(large): large,
	} {
		server.Put("/v2/charts/alpha/"+path, content)
	}
	f, err = fetch(t, s, resolve.Reference{Kind: resolve.Registry, Image: resolve.Image{Host: strings.TrimPrefix(server.URL, "http://"), Path: "charts/alpha", Tag: "1.0.0"}})
	must(t, err)
	refused("a layer", s.FetchProvenance(t.Context(), &f))
}

// A name among the signers of a rule is refused if two keys of the keyring have it; a fingerprint
// is not.
func TestSignersWithOneName(t *testing.T) {
	then := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var public, secret bytes.Buffer
	var last *openpgp.Entity
	for range 2 {
		var err error
		last, err = openpgp.NewEntity("Anna", "", "anna@example.com", &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA, Time: func() time.Time { return then }})
		must(t, err)
		must(t, last.Serialize(&public))
	}
	must(t, last.SerializePrivateWithoutSigning(&secret, nil))
	own, err := signature.ParseKeyring(secret.Bytes())
	must(t, err)
	key, err := own.Secret("Anna")
	must(t, err)
	archive := sourcetest.Chart(t, "alpha", "1.0.0", "")
	provenance, err := key.SignArchive(&chart.Metadata{APIVersion: "v2", Name: "alpha", Version: "1.0.0"}, signature.Archive{Name: "alpha-1.0.0.tgz", Digest: Digest(archive)}, then, rand.Reader)
	must(t, err)
	ring, err := signature.ParseKeyring(public.Bytes())
	must(t, err)
	for signer, want := range map[string]string{
		"Anna <anna@example.com>":                      "2 keys in the keyring are named",
		"Bert <bert@example.com>":                      "not one of the signers",
		fmt.Sprintf("%X", last.PrimaryKey.Fingerprint): "",
	} {
		_, err := demand{keys: ring, signers: []string{signer}}.provenance(provenance, "alpha-1.0.0.tgz", archive, then)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", signer, err)
		}
	}
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
