package source

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/signature"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// A signature that a registry lists but no longer has, or that is another one by now, does not
// hide a valid one that is listed after it.
func TestDanglingSignatures(t *testing.T) {
	alpha := sourcetest.Chart(t, "alpha", "1.0.0", "")
	manifest := manifestOf(t, newBlob(chartType, alpha).Descriptor)
	key, file := sourcetest.CosignKey(t)
	sign := func(what []byte) []byte {
		digest := sha256.Sum256(what)
		out, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
		must(t, err)
		return out
	}
	bundle := marshalled(t, map[string]any{"mediaType": signature.BundleType + ".v0.3+json", "messageSignature": map[string]any{"signature": sign(manifest)}})
	payload := fmt.Appendf(nil, `{"critical":{"identity":{"docker-reference":"x"},"image":{"docker-manifest-digest":%q},"type":"cosign container image signature"},"optional":null}`, Digest(manifest))
	deleted, changed := newBlob(signature.BundleType, []byte("deleted")).Descriptor, newBlob(signature.BundleType, []byte("changed")).Descriptor
	good := newBlob(signature.BundleType, bundle).Descriptor
	bare := good
	bare.Digest = bare.Digest[len("sha256:"):]
	old := newBlob(simpleLayer, payload).Descriptor
	old.Annotations = map[string]string{simpleAnnotation: base64.StdEncoding.EncodeToString(sign(payload))}
	oldDeleted := newBlob(simpleLayer, []byte("deleted")).Descriptor
	for name, tc := range map[string]struct {
		referrers [][]byte // nil: a deleted one
		tag       []byte
		err       string
	}{
		"a deleted manifest":       {[][]byte{nil, layers(t, "x", good)}, nil, ""},
		"a deleted bundle":         {[][]byte{layers(t, "x", deleted), layers(t, "x", good)}, nil, ""},
		"another bundle":           {[][]byte{layers(t, "x", changed), layers(t, "x", good)}, nil, ""},
		"a digest no one can read": {[][]byte{layers(t, "x", bare), layers(t, "x", good)}, nil, ""},
		"in one manifest":          {[][]byte{layers(t, "x", deleted, good)}, nil, ""},
		"below a tag":              {nil, layers(t, "x", oldDeleted, old), ""},
		"a referrer, and a tag":    {[][]byte{nil}, layers(t, "x", old), ""},
		"nothing but a manifest":   {[][]byte{nil}, nil, "a signature that it does not have"},
		"nothing but a bundle":     {[][]byte{layers(t, "x", deleted)}, nil, "a signature that it does not have"},
		"nothing but another one":  {[][]byte{layers(t, "x", changed)}, nil, "was promised"},
		"nothing":                  {nil, nil, "the registry has none"},
	} {
		t.Run(name, func(t *testing.T) {
			index := ocispec.Index{MediaType: ocispec.MediaTypeImageIndex}
			server, image := fake(t, func(w http.ResponseWriter, r *http.Request, _ int) bool {
				if strings.Contains(r.URL.Path, "/referrers/") {
					w.Header().Set("Content-Type", ocispec.MediaTypeImageIndex)
					_, _ = w.Write(marshalled(t, index))
				}
				return strings.Contains(r.URL.Path, "/referrers/")
			})
			for _, m := range tc.referrers {
				d := newBlob(ocispec.MediaTypeImageManifest, m).Descriptor
				d.ArtifactType = signature.BundleType + ".v0.3+json"
				index.Manifests = append(index.Manifests, d)
				if m != nil {
					server.Put("/v2/charts/alpha/manifests/"+Digest(m), m)
				}
			}
			if tc.tag != nil {
				server.Put("/v2/charts/alpha/manifests/"+signatureTag(Digest(manifest)), tc.tag)
			}
			server.Put("/v2/charts/alpha/blobs/"+changed.Digest.String(), []byte("CHANGED"))
			server.Put("/v2/charts/alpha/blobs/"+bare.Digest.String(), bundle)
			for path, content := range map[string][]byte{"manifests/1.0.0": manifest, "manifests/" + Digest(manifest): manifest, "blobs/" + Digest(alpha): alpha, "blobs/" + Digest(bundle): bundle, "blobs/" + Digest(payload): payload} {
				server.Put("/v2/charts/alpha/"+path, content)
			}
			s := ours(t)
			s.Settings.Verify = []resolve.Rule{{Prefix: "oci://" + image.Host, Key: file}}
			for _, cache := range []string{s.Paths.ContentCache, ""} {
				s.Paths.ContentCache = cache
				f, err := fetch(t, s, resolve.Reference{Kind: resolve.Registry, Image: image})
				var unverified *UnverifiedError
				switch {
				case tc.err == "" && (err != nil || f.Signature == nil):
					t.Errorf("cache %q: got %v, %v", cache, f.Signature, err)
				case tc.err != "" && (!errors.As(err, &unverified) || !strings.Contains(err.Error(), tc.err)):
					t.Errorf("cache %q: got %v", cache, err)
				}
			}
		})
	}
}
