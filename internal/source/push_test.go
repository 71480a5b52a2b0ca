package source

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// A tag moves only with Force, even to a manifest that has nothing new but a signature. What is there
// already is not pushed again, whatever else its manifest says.
func TestPushMovesNoTags(t *testing.T) {
	archive, signature := sourcetest.Chart(t, "alpha", "1.0.0", ""), []byte("signed")
	with := func(layers ...blobOf) []byte {
		m := ocispec.Manifest{Config: ocispec.Descriptor{MediaType: configType, Digest: ocispec.DescriptorEmptyJSON.Digest, Size: 2}, Annotations: map[string]string{ocispec.AnnotationCreated: "2026-01-01T00:00:00Z"}}
		for _, layer := range layers {
			m.Layers = append(m.Layers, layer.Descriptor)
		}
		data, err := json.Marshal(m)
		must(t, err)
		return data
	}
	plain, signed := with(newBlob(chartType, archive)), with(newBlob(chartType, archive), newBlob(provenanceType, signature))
	evidence := map[string][]byte{ProvenanceSuffix: signature}
	for name, tc := range map[string]struct {
		there    []byte
		evidence map[string][]byte
		force    bool
		refused  string
		pushed   bool
	}{
		"the same":                          {there: plain},
		"the same, signed there":            {there: signed},
		"the same, with its signature":      {there: signed, evidence: evidence},
		"the same, forced":                  {there: signed, evidence: evidence, force: true},
		"a signature":                       {there: plain, evidence: evidence, refused: "with the same archive but without this signature"},
		"another signature":                 {there: with(newBlob(chartType, archive), newBlob(provenanceType, []byte("x"))), evidence: evidence, refused: "without this signature"},
		"a signature, forced":               {there: plain, evidence: evidence, force: true, pushed: true},
		"another archive":                   {there: with(newBlob(chartType, []byte("x"))), refused: "with other content"},
		"another archive, forced":           {there: with(newBlob(chartType, []byte("x"))), force: true, pushed: true},
		"another archive, with a signature": {there: with(newBlob(chartType, []byte("x"))), evidence: evidence, refused: "with other content"},
		"no chart":                          {there: []byte(`{"config":{"mediaType":"x"}}`), refused: "with other content"},
	} {
		t.Run(name, func(t *testing.T) {
			pushed := false
			_, image := fake(t, func(w http.ResponseWriter, r *http.Request, _ int) bool {
				switch {
				case r.Method == http.MethodPut:
					pushed = true
					w.WriteHeader(http.StatusCreated)
				case r.Method == http.MethodHead && strings.Contains(r.URL.Path, "/blobs/"):
					w.Header().Set("Content-Length", "1")
				default:
					return serveManifest(w, r, tc.there)
				}
				return true
			})
			image.Tag = ""
			u := Upload{To: image, Metadata: &chart.Metadata{APIVersion: "v2", Name: "alpha", Version: "1.0.0"}, Archive: archive, Evidence: tc.evidence, Force: tc.force}
			out, err := ours(t).Push(t.Context(), u)
			taken, is := errors.AsType[*TagTakenError](err)
			if is != (tc.refused != "") || is && !strings.Contains(taken.Error(), tc.refused) || !is && err != nil {
				t.Errorf("%v", err)
			}
			if pushed != tc.pushed || err == nil && out.Changed != pushed {
				t.Errorf("pushed: %v, %+v", pushed, out)
			}
		})
	}
}

// That a registry does not show what is at a tag does not mean that it is something else.
func TestPushToAnUnreadableTag(t *testing.T) {
	_, image := fake(t, func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusForbidden)
			return true
		}
		return serveManifest(w, r, []byte("{}"))
	})
	image.Tag = ""
	_, err := ours(t).Push(t.Context(), Upload{To: image, Metadata: &chart.Metadata{APIVersion: "v2", Name: "alpha", Version: "1.0.0"}, Archive: []byte("x")})
	if refused, is := errors.AsType[*RefusedError](err); !is || refused.Code != http.StatusForbidden {
		t.Errorf("%v", err)
	}
}

// A manifest beside an archive whose digest has no algorithm is of no archive.
func TestManifestWithoutAlgorithm(t *testing.T) {
	archive := sourcetest.Chart(t, "alpha", "1.0.0", "")
	layer := newBlob(chartType, archive).Descriptor
	layer.Digest = layer.Digest[len("sha256:"):]
	if err := holds(manifestOf(t, layer), Digest(archive)); err == nil || !strings.Contains(err.Error(), "not one of SHA-256") {
		t.Errorf("%v", err)
	}
}

// A registry can't have a chart, or the credentials for it, sent to another server.
func TestUploadsStay(t *testing.T) {
	foreign := sourcetest.Serve(t, sourcetest.Options{})
	asked := false
	_, image := fake(t, func(w http.ResponseWriter, r *http.Request, _ int) bool {
		switch {
		case r.Header.Get("Authorization") == "":
			w.Header().Set("WWW-Authenticate", `Basic realm="r"`)
			w.WriteHeader(http.StatusUnauthorized)
		case r.Method == http.MethodPost:
			asked = true
			w.Header().Set("Location", foreign.URL+"/upload")
			w.WriteHeader(http.StatusAccepted)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
		return true
	})
	image.Tag = ""
	s := ours(t)
	s.Access = Access{Username: "u", Password: "p"}
	_, err := s.Push(t.Context(), Upload{To: image, Metadata: &chart.Metadata{APIVersion: "v2", Name: "alpha", Version: "1.0.0"}, Archive: sourcetest.Chart(t, "alpha", "1.0.0", "")})
	if err == nil || !asked {
		t.Errorf("asked: %v, %v", asked, err)
	}
	if q := foreign.Requests(); len(q) != 0 {
		t.Errorf("the other server was sent %+v", q)
	}
}
