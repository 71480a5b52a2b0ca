package source

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// An index may list images of a registry, as Bitnami's does. Its digest is that of the manifest or of
// the archive, and so is one that the user or a lock demands; the tag may be left out.
func TestIndexOfImages(t *testing.T) {
	archive := sourcetest.Chart(t, "alpha", "1.0.0+b", "")
	registry := sourcetest.Serve(t, sourcetest.Options{})
	registry.PutImage(t, "charts/alpha", "1.0.0_b", archive)
	image := "oci://" + strings.TrimPrefix(registry.URL, "http://") + "/charts/alpha"
	manifest := Digest(registry.File("/v2/charts/alpha/manifests/1.0.0_b"))
	other := Digest([]byte("other"))
	for name, tc := range map[string]struct {
		url, digest, wanted string
		allow, differs      bool
	}{
		"no digest":                          {url: image + ":1.0.0_b"},
		"no tag":                             {url: image},
		"a digest in the URL":                {url: image + "@" + manifest},
		"another digest in the URL":          {url: image + "@" + other, differs: true},
		"the manifest's digest":              {url: image, digest: manifest},
		"the archive's digest":               {url: image, digest: Digest(archive)},
		"another digest":                     {url: image, digest: other, differs: true},
		"another digest, allowed":            {url: image, digest: other, allow: true},
		"a lock has the archive's digest":    {url: image, digest: manifest, wanted: Digest(archive)},
		"the user wants the manifest":        {url: image, digest: Digest(archive), wanted: manifest},
		"the user wants another digest":      {url: image, digest: manifest, wanted: other, differs: true},
		"a lock, and no digest in the index": {url: image, wanted: Digest(archive)},
	} {
		t.Run(name, func(t *testing.T) {
			server := sourcetest.Serve(t, sourcetest.Options{User: "u", Password: "p"})
			server.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: "1.0.0+b", URL: tc.url, Digest: strings.TrimPrefix(tc.digest, "sha256:")}))
			s := ours(t)
			s.AllowMismatch = tc.allow
			add(t, s, "a", server, Access{Username: "u", Password: "p", PassAll: true})
			registry.Requests()
			ref := configured("a", "alpha", "")
			ref.Digest = tc.wanted
			f, err := fetch(t, s, ref)
			for _, q := range registry.Requests() {
				if q.Header.Get("Authorization") != "" {
					t.Error("the registry got the repository's credentials")
				}
			}
			if _, differs := errors.AsType[*DigestError](err); differs != tc.differs || err != nil && !differs {
				t.Fatal(err)
			}
			if tc.differs {
				return
			}
			if f.Repository != "a" || f.Name != "alpha" || f.Version != "1.0.0+b" || f.FileName() != "alpha-1.0.0+b.tgz" || f.Digest != Digest(archive) || (f.Mismatch != nil) != tc.allow {
				t.Errorf("%+v", f.Found)
			}
			s.Offline = true
			if again, err := fetch(t, s, ref); err != nil || !again.Cached {
				t.Errorf("offline: %v", err)
			}
			s.Offline = false
			pin := f.Pin(ref, "a/alpha")
			now, err := s.digestNow(t.Context(), *pin)
			if must(t, err); now != manifest || pin.Digest != manifest || pin.Repository != server.URL {
				t.Errorf("%+v, now %s", pin, now)
			}
			if offers, err := s.Offers(t.Context(), []Installed{{Name: "alpha", Version: "0.9.0", From: pin}}, false); err != nil || offers[0].Version != "1.0.0+b" || offers[0].Place != "a/alpha" {
				t.Errorf("%+v, %v", offers, err)
			}
		})
	}
}

// Credentials from flags are for the repository, which was named, and not for the registry.
func TestIndexOfImagesAndFlags(t *testing.T) {
	registry := sourcetest.Serve(t, sourcetest.Options{User: "u", Password: "p"})
	registry.PutImage(t, "charts/alpha", "1.0.0", sourcetest.Chart(t, "alpha", "1.0.0", ""))
	server := sourcetest.Serve(t, sourcetest.Options{User: "u", Password: "p"})
	server.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: "1.0.0", URL: "oci://" + strings.TrimPrefix(registry.URL, "http://") + "/charts/alpha:1.0.0"}))
	s := ours(t)
	s.Access = Access{Username: "u", Password: "p"}
	_, err := fetch(t, s, resolve.Reference{Kind: resolve.Unconfigured, URL: server.URL, Name: "alpha"})
	if _, refused := errors.AsType[*RefusedError](err); !refused {
		t.Error(err)
	}
	for _, q := range registry.Requests() {
		if q.Header.Get("Authorization") != "" {
			t.Error("the registry got the repository's credentials")
		}
	}
}
