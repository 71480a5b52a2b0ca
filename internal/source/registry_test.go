package source

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// fake is a registry that answers as fault does; the rest is sourcetest's.
func fake(t *testing.T, fault func(w http.ResponseWriter, r *http.Request, n int) bool) (*sourcetest.Repository, resolve.Image) {
	t.Helper()
	server := sourcetest.Serve(t, sourcetest.Options{Fault: fault})
	return server, resolve.Image{Host: strings.TrimPrefix(server.URL, "http://"), Path: "charts/alpha", Tag: "1.0.0"}
}

// fakeChart is a registry with one chart; manifest is what it says the chart is.
func fakeChart(t *testing.T) (server *sourcetest.Repository, image resolve.Image, manifest *[]byte) {
	t.Helper()
	archive := sourcetest.Chart(t, "alpha", "1.0.0", "")
	data := manifestOf(t, newBlob(chartType, archive).Descriptor)
	server, image = fake(t, func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if strings.Contains(r.URL.Path, "/blobs/") {
			_, _ = w.Write(archive)
			return true
		}
		return serveManifest(w, r, data)
	})
	return server, image, &data
}

// manifestOf returns a manifest with a layer.
func manifestOf(t *testing.T, layer ocispec.Descriptor) []byte {
	t.Helper()
	data, err := json.Marshal(ocispec.Manifest{Config: ocispec.Descriptor{MediaType: configType, Digest: "sha256:" + ocispec.DescriptorEmptyJSON.Digest[7:], Size: 2}, Layers: []ocispec.Descriptor{layer}})
	must(t, err)
	return data
}

// serveManifest answers requests for a manifest, under its own digest or another one.
func serveManifest(w http.ResponseWriter, r *http.Request, data []byte) bool {
	if !strings.Contains(r.URL.Path, "/manifests/") {
		return false
	}
	w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
	w.Header().Set("Docker-Content-Digest", Digest(data))
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(data)
	}
	return true
}

// A registry's credentials go nowhere else, whatever it says.
func TestRealms(t *testing.T) {
	elsewhere := sourcetest.Serve(t, sourcetest.Options{Fault: func(w http.ResponseWriter, _ *http.Request, _ int) bool {
		_, _ = w.Write([]byte(`{"token":"x"}`))
		return true
	}})
	// A name with a private address that is not the registry's own name.
	private := strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1)
	for realm, want := range map[string]string{
		"http://169.254.169.254/latest": "link-local",
		elsewhere.URL + "/token":        "asks for its credentials to be sent to",
		private + "/token?tenant=a":     "private",
	} {
		_, image := fake(t, func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			w.Header().Set("WWW-Authenticate", `Bearer realm="`+realm+`",service="s"`)
			w.WriteHeader(http.StatusUnauthorized)
			return true
		})
		s := ours(t)
		s.Access = Access{Username: "u", Password: "p"}
		_, err := s.Find(t.Context(), resolve.Reference{Kind: resolve.Registry, Image: image})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", realm, err)
		}
		if _, is := errors.AsType[*RealmError](err); is != (want == "asks for its credentials to be sent to") {
			t.Errorf("%T", err)
		}
		if want != "link-local" {
			for _, q := range elsewhere.Requests() {
				if q.Header.Get("Authorization") != "" || q.Method == http.MethodPost {
					t.Errorf("the credentials were sent: %+v", q)
				}
			}
		}
		s.Settings.Realms = map[string][]string{image.Host: {elsewhere.URL, private}}
		if want != "link-local" {
			_, _ = s.Find(t.Context(), resolve.Reference{Kind: resolve.Registry, Image: image})
			q := elsewhere.Requests()
			if len(q) == 0 || q[0].Header.Get("Authorization") == "" || q[0].Path != "/token" {
				t.Errorf("a realm that is allowed was asked %+v", q)
			}
		} else if len(elsewhere.Requests()) != 0 {
			t.Error("the other server was asked")
		}
	}
}

// A token server that is allowed may redirect within itself: the credentials go along, and to nobody else.
func TestTokenServersRedirect(t *testing.T) {
	other := sourcetest.Serve(t, sourcetest.Options{})
	for to, kept := range map[string]bool{"/moved": true, "/moved?again=yes": true, "": true, other.URL + "/token": false} {
		var elsewhere *sourcetest.Repository
		elsewhere = sourcetest.Serve(t, sourcetest.Options{Fault: func(w http.ResponseWriter, r *http.Request, _ int) bool {
			if r.URL.Path != "/token" {
				_, _ = w.Write([]byte(`{"token":"x"}`))
				return true
			}
			w.Header().Set("Location", cmp.Or(to, elsewhere.URL+"/moved"))
			w.WriteHeader(http.StatusTemporaryRedirect)
			return true
		}})
		_, image := fake(t, func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			w.Header().Set("WWW-Authenticate", `Bearer realm="`+elsewhere.URL+`/token",service="s"`)
			w.WriteHeader(http.StatusUnauthorized)
			return true
		})
		s := ours(t)
		s.Access = Access{Username: "u", Password: "p"}
		s.Settings.Realms = map[string][]string{image.Host: {elsewhere.URL}}
		_, _ = s.Find(t.Context(), resolve.Reference{Kind: resolve.Registry, Image: image})
		asked := elsewhere.Requests()
		if reached := len(asked) == 2 && asked[1].Path == "/moved" && asked[1].Header.Get("Authorization") != ""; reached != kept {
			t.Errorf("%s: %+v", to, asked)
		}
		for _, q := range other.Requests() {
			if q.Header.Get("Authorization") != "" {
				t.Errorf("the credentials were sent to another server: %+v", q)
			}
		}
	}
}

// A blob that is elsewhere is fetched without credentials.
func TestBlobRedirect(t *testing.T) {
	archive := sourcetest.Chart(t, "alpha", "1.0.0", "")
	elsewhere := sourcetest.Serve(t, sourcetest.Options{})
	elsewhere.Put("/blob", archive)
	manifest := manifestOf(t, newBlob(chartType, archive).Descriptor)
	_, image := fake(t, func(w http.ResponseWriter, r *http.Request, _ int) bool {
		switch {
		case r.Header.Get("Authorization") == "":
			w.Header().Set("WWW-Authenticate", `Basic realm="r"`)
			w.WriteHeader(http.StatusUnauthorized)
		case strings.Contains(r.URL.Path, "/blobs/"):
			http.Redirect(w, r, elsewhere.URL+"/blob", http.StatusTemporaryRedirect)
		default:
			return serveManifest(w, r, manifest)
		}
		return true
	})
	s := ours(t)
	s.Access = Access{Username: "u", Password: "p"}
	if _, err := fetch(t, s, resolve.Reference{Kind: resolve.Registry, Image: image}); err != nil {
		t.Fatal(err)
	}
	if q := elsewhere.Requests(); len(q) != 1 || q[0].Header.Get("Authorization") != "" {
		t.Errorf("%+v", q)
	}
}

// The signed URL of a storage that does not answer is not shown.
func TestSignedURLsAreNotShown(t *testing.T) {
	manifest := manifestOf(t, newBlob(chartType, []byte("x")).Descriptor)
	gone := sourcetest.Serve(t, sourcetest.Options{TLS: true}) // whose certificate is not trusted
	_, image := fake(t, func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if strings.Contains(r.URL.Path, "/blobs/") {
			http.Redirect(w, r, gone.URL+"/blob?X-Amz-Signature=canary", http.StatusTemporaryRedirect)
			return true
		}
		return serveManifest(w, r, manifest)
	})
	_, err := fetch(t, ours(t), resolve.Reference{Kind: resolve.Registry, Image: image})
	if _, is := errors.AsType[*UnreachedError](err); !is || strings.Contains(err.Error(), "canary") || !strings.Contains(err.Error(), gone.URL) {
		t.Errorf("%v", err)
	}
}

// Manifests and layers that lie are refused, and not kept in the cache.
func TestLyingRegistry(t *testing.T) {
	archive := sourcetest.Chart(t, "alpha", "1.0.0", "")
	good := newBlob(chartType, archive).Descriptor
	with := func(change func(*ocispec.Descriptor)) []byte {
		d := good
		change(&d)
		return manifestOf(t, d)
	}
	for why, tc := range map[string]struct {
		manifest []byte
		blob     []byte
		want     string
	}{
		"a layer of 2^62 bytes":      {with(func(d *ocispec.Descriptor) { d.Size = 1 << 62 }), archive, "larger than 100 MiB"},
		"a negative size":            {with(func(d *ocispec.Descriptor) { d.Size = -1 }), archive, "larger than 100 MiB"},
		"another digest":             {with(func(*ocispec.Descriptor) {}), append([]byte{1}, archive[1:]...), "was promised"},
		"fewer bytes":                {with(func(*ocispec.Descriptor) {}), archive[:10], "has another size than what was promised"},
		"a digest without algorithm": {with(func(d *ocispec.Descriptor) { d.Digest = d.Digest[len("sha256:"):] }), archive, "not one of SHA-256"},
		"no digest":                  {with(func(d *ocispec.Descriptor) { d.Digest = "" }), archive, "not one of SHA-256"},
		"SHA-512":                    {with(func(d *ocispec.Descriptor) { d.Digest = "sha512:00" }), archive, "not one of SHA-256"},
		"no layer with a chart":      {with(func(d *ocispec.Descriptor) { d.MediaType = "x" }), archive, "it has no layer"},
		"no chart at all":            {[]byte(`{"schemaVersion":2,"config":{"mediaType":"x"}}`), nil, "is not a chart"},
		"no manifest":                {[]byte(`[`), nil, "no manifest that can be read"},
		"a manifest without end":     {[]byte(strings.Repeat(" ", maxManifestBytes+1)), nil, "MiB"},
		"an index that has no chart": {[]byte(`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]}`), nil, "is not a chart"},
	} {
		t.Run(why, func(t *testing.T) {
			_, image := fake(t, func(w http.ResponseWriter, r *http.Request, _ int) bool {
				if strings.Contains(r.URL.Path, "/blobs/") {
					_, _ = w.Write(tc.blob)
					return true
				}
				return serveManifest(w, r, tc.manifest)
			})
			s := ours(t)
			if _, err := fetch(t, s, resolve.Reference{Kind: resolve.Registry, Image: image}); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
			if _, ok := s.cached(Digest(tc.blob), chartContent); ok {
				t.Error("it is in the cache")
			}
		})
	}
}

// An endless list of tags is an error.
func TestEndlessTags(t *testing.T) {
	_, image := fake(t, func(w http.ResponseWriter, r *http.Request, _ int) bool {
		w.Header().Set("Link", `<`+r.URL.Path+`?last=x>; rel="next"`)
		_, _ = w.Write([]byte(`{"name":"x","tags":["1.0.0"]}`))
		return true
	})
	image.Tag = ""
	_, err := ours(t).Find(t.Context(), resolve.Reference{Kind: resolve.Registry, Image: image})
	if err == nil || !strings.Contains(err.Error(), "has no end") {
		t.Error(err)
	}
}

// What a mirror has is fetched from there; the names stay.
func TestMirrors(t *testing.T) {
	server := sourcetest.Serve(t, sourcetest.Options{})
	server.Publish(t, map[string][]string{"alpha": {"1.0.0"}})
	s := ours(t)
	s.Settings.Mirrors = []resolve.Mirror{{Prefix: "https://charts.example.com/", To: server.URL + "/"}}
	f, err := fetch(t, s, resolve.Reference{Kind: resolve.Unconfigured, URL: "https://charts.example.com", Name: "alpha"})
	if err != nil || f.URL != "https://charts.example.com/alpha-1.0.0.tgz" {
		t.Errorf("%+v, %v", f.URL, err)
	}
	mirror, image, _ := fakeChart(t)
	s.Access = Access{Username: "u", Password: "of ghcr.io"}
	s.Settings.Mirrors = []resolve.Mirror{{Prefix: "oci://ghcr.io/acme/", To: "oci://" + image.Host + "/charts/"}}
	f, err = fetch(t, s, resolve.Reference{Kind: resolve.Registry, Image: resolve.Image{Host: "ghcr.io", Path: "acme/alpha", Tag: "1.0.0"}})
	if err != nil || f.URL != "oci://ghcr.io/acme/alpha:1.0.0" {
		t.Errorf("%+v, %v", f.URL, err)
	}
	challenge, image := fake(t, func(w http.ResponseWriter, _ *http.Request, _ int) bool {
		w.Header().Set("WWW-Authenticate", `Basic realm="mirror"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	s.Settings.Mirrors[0].To = "oci://" + image.Host + "/charts/"
	if _, err := fetch(t, s, resolve.Reference{Kind: resolve.Registry, Image: resolve.Image{Host: "ghcr.io", Path: "acme/beta", Tag: "1.0.0"}}); err == nil {
		t.Error("a mirror that wants a password has none")
	}
	for _, q := range append(mirror.Requests(), challenge.Requests()...) {
		if q.Header.Get("Authorization") != "" {
			t.Errorf("a mirror was sent the registry's credentials: %+v", q)
		}
	}
}

// A registry's own words say why it refuses; the status is reported if it has none.
func TestARefusalIsToldOnce(t *testing.T) {
	for want, refused := range map[string]*errcode.ErrorResponse{
		"log in to r: unauthorized: authentication required": {StatusCode: http.StatusUnauthorized, Errors: errcode.Errors{{Code: errcode.ErrorCodeUnauthorized, Message: "authentication required"}}},
		"log in to r: forbidden":                             {StatusCode: http.StatusForbidden},
	} {
		if got := explained("log in to r", refused); got.Error() != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A tag that was chosen by its version is known offline under its own name, too.
func TestAChosenTagIsKnownOffline(t *testing.T) {
	archive := sourcetest.Chart(t, "alpha", "1.0.0", "")
	manifest := manifestOf(t, newBlob(chartType, archive).Descriptor)
	server, image := fake(t, func(w http.ResponseWriter, r *http.Request, _ int) bool {
		switch {
		case strings.Contains(r.URL.Path, "/tags/"):
			_, _ = w.Write([]byte(`{"tags": ["1.0.0", "0.9.0"]}`))
		case strings.Contains(r.URL.Path, "/blobs/"):
			_, _ = w.Write(archive)
		default:
			return serveManifest(w, r, manifest)
		}
		return true
	})
	newest := image
	newest.Tag = ""
	s := ours(t)
	if _, err := fetch(t, s, resolve.Reference{Kind: resolve.Registry, Image: newest}); err != nil {
		t.Fatal(err)
	}
	s.Offline = true
	server.Stop()
	for _, i := range []resolve.Image{newest, image} {
		if f, err := fetch(t, s, resolve.Reference{Kind: resolve.Registry, Image: i}); err != nil || f.Version != "1.0.0" {
			t.Errorf("%s: %q, %v", i, f.Version, err)
		}
	}
}
