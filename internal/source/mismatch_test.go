package source

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// A storage that has other content than was asked for is refused as such, without its signed URL.
func TestSignedURLsOfOtherContentAreNotShown(t *testing.T) {
	archive := sourcetest.Chart(t, "alpha", "1.0.0", "")
	manifest := manifestOf(t, newBlob(chartType, archive).Descriptor)
	for name, tc := range map[string]struct {
		path string
		lie  func(http.ResponseWriter)
	}{
		"a blob with another digest": {"/blobs/", func(w http.ResponseWriter) {
			w.Header().Set("Docker-Content-Digest", Digest([]byte("other")))
			_, _ = w.Write(archive)
		}},
		"a blob with fewer bytes": {"/blobs/", func(w http.ResponseWriter) { _, _ = w.Write(archive[:10]) }},
		"a blob with more bytes":  {"/blobs/", func(w http.ResponseWriter) { _, _ = w.Write(append(archive[:len(archive):len(archive)], 0)) }},
		"a blob with more, of unknown size": {"/blobs/", func(w http.ResponseWriter) {
			_, _ = w.Write(archive)
			_ = http.NewResponseController(w).Flush()
			_, _ = w.Write([]byte("x"))
		}},
		"a manifest with another digest": {"/manifests/sha256", func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
			w.Header().Set("Docker-Content-Digest", Digest([]byte("other")))
			_, _ = w.Write(manifest)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			storage := sourcetest.Serve(t, sourcetest.Options{Fault: func(w http.ResponseWriter, _ *http.Request, _ int) bool {
				tc.lie(w)
				return true
			}})
			_, image := fake(t, func(w http.ResponseWriter, r *http.Request, _ int) bool {
				if strings.Contains(r.URL.Path, tc.path) {
					http.Redirect(w, r, storage.URL+"/x?X-Amz-Signature=canary", http.StatusTemporaryRedirect)
					return true
				}
				return serveManifest(w, r, manifest)
			})
			_, err := fetch(t, ours(t), resolve.Reference{Kind: resolve.Registry, Image: image})
			if _, is := errors.AsType[*DigestError](err); !is || strings.Contains(err.Error(), "canary") {
				t.Errorf("%T: %v", err, err)
			}
		})
	}
}

// What else oras-go says about an answer has no secrets, either.
func TestErrorsAboutAnswersShowNoSecrets(t *testing.T) {
	storage := sourcetest.Serve(t, sourcetest.Options{Fault: func(w http.ResponseWriter, _ *http.Request, _ int) bool {
		w.Header().Set("Content-Type", "///")
		_, _ = w.Write([]byte("{}"))
		return true
	}})
	_, image := fake(t, func(w http.ResponseWriter, r *http.Request, _ int) bool {
		http.Redirect(w, r, storage.URL+"/x?X-Amz-Signature=canary", http.StatusTemporaryRedirect)
		return true
	})
	_, err := fetch(t, ours(t), resolve.Reference{Kind: resolve.Registry, Image: image})
	if err == nil || strings.Contains(err.Error(), "canary") || !strings.Contains(err.Error(), storage.URL) {
		t.Errorf("%v", err)
	}
}
