package source

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// Some servers call the compression of an archive a Content-Encoding. Its bytes, and those of its
// signature, are used as they are; an index may be compressed for the transfer.
func TestArchivesLabelledAsCompressed(t *testing.T) {
	archive := sourcetest.Chart(t, "alpha", "1.0.0", "")
	server := sourcetest.Serve(t, sourcetest.Options{Fault: func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if strings.HasSuffix(r.URL.Path, ".tgz") || strings.HasSuffix(r.URL.Path, ".prov") || strings.Contains(r.URL.Path, "/blobs/") {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(archive)
			return true
		}
		return false
	}})
	server.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: "1.0.0", URL: "alpha-1.0.0.tgz", Digest: sourcetest.Digest(archive)}))
	server.PutImage(t, "charts/alpha", "1.0.0", archive)
	for _, ref := range []resolve.Reference{
		{Kind: resolve.Remote, URL: server.URL + "/alpha-1.0.0.tgz"},
		{Kind: resolve.Unconfigured, URL: server.URL, Name: "alpha"},
		{Kind: resolve.Registry, Image: resolve.Image{Host: strings.TrimPrefix(server.URL, "http://"), Path: "charts/alpha", Tag: "1.0.0"}},
	} {
		s := ours(t)
		f, err := fetch(t, s, ref)
		if err != nil || !bytes.Equal(f.Data, archive) {
			t.Errorf("%+v: %v", ref, err)
			continue
		}
		if ref.Kind == resolve.Registry {
			continue
		}
		if err := s.FetchProvenance(t.Context(), &f); err != nil || !bytes.Equal(f.Evidence[ProvenanceSuffix], archive) {
			t.Errorf("%+v: the bytes of the signature differ, %v", ref, err)
		}
	}
	indexes := 0
	for _, q := range server.Requests() {
		wants := q.Header.Get("Accept-Encoding")
		if index := strings.HasSuffix(q.Path, "index.yaml"); index && wants == "gzip" {
			indexes++
		} else if index || wants != "identity" {
			t.Errorf("%s is requested with Accept-Encoding %q", q.Path, wants)
		}
	}
	if indexes == 0 {
		t.Error("no index was requested")
	}
}
