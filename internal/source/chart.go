package source

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/signature"
)

// Found is the chart that a reference means, before any of it is fetched.
type Found struct {
	// Repository is the repository's name or URL, "" for a chart's own URL.
	Repository string
	// Name and Version are from the index or, for a registry, the reference; "" if not known.
	Name, Version string
	// URL is where the archive is.
	URL string
	// Digest is the archive's digest if known, "sha256:" and hex.
	Digest string
	// Manifest is the digest of the manifest in a registry, "" for other sources.
	Manifest string
	// Pinned reports whether the reference to a registry has that digest: then its path says where the chart
	// is, and not which one.
	Pinned bool
	// Warnings are about the index.
	Warnings []chart.Warning

	access Access
	home   string
	image  *resolve.Image
	// promised are digests of an image in an index: each is of its manifest or of its archive.
	promised []string
}

// Fetched is a chart's archive.
type Fetched struct {
	Found
	Data []byte
	// Cached reports whether nothing was fetched.
	Cached bool
	// Mismatch is the digest mismatch that AllowMismatch ignored, or nil.
	Mismatch *DigestError
	// Signature is the verified signature; nil if none was demanded.
	Signature *signature.Signature
	// Evidence holds the files that allow verifying the signature offline, keyed by the suffix
	// that they add to the archive's name, such as ".prov".
	Evidence map[string][]byte
}

// Suffixes of files that are evidence.
const (
	// ProvenanceSuffix is the suffix of an OpenPGP signature in Helm's format.
	ProvenanceSuffix = ".prov"
	// bundleSuffix is the suffix of a signature as cosign writes it. It signs the archive, or
	// the registry's manifest if that is there too, with manifestSuffix.
	bundleSuffix   = ".sigstore.json"
	manifestSuffix = ".manifest.json"
)

func (f *Fetched) show(suffix string, data []byte) {
	if f.Evidence == nil {
		f.Evidence = map[string][]byte{}
	}
	f.Evidence[suffix] = data
}

// Find returns the chart that a reference means now. For a configured repository the cached
// index counts; that of --repo is fetched if it has changed. Errors: *NoRepositoryError,
// *NoIndexError, *resolve.NoChartError, *resolve.NoVersionError, *DigestError, *OfflineError.
func (s *Sources) Find(ctx context.Context, r resolve.Reference) (Found, error) {
	switch r.Kind {
	case resolve.Remote:
		return s.findRemote(r)
	case resolve.Configured:
		return s.findConfigured(ctx, r)
	case resolve.Unconfigured:
		return s.findUnconfigured(ctx, r)
	case resolve.Registry:
		f, err := s.findImage(ctx, r)
		f.Pinned = r.Digest != ""
		return f, err
	case resolve.Local, resolve.Vendored:
	}
	return Found{}, fmt.Errorf("%s is not fetched", r.Path)
}

func (s *Sources) findRemote(r resolve.Reference) (Found, error) {
	f := Found{URL: r.URL, Digest: r.Digest, home: r.URL, access: s.accessTo(r.URL)}
	repositories, err := s.Repositories()
	if err != nil {
		return Found{}, err
	}
	nearest := "" // the longest URL of a repository that the chart is below; several may have it
	for _, e := range repositories.All() {
		at := strings.TrimRight(e.URL, "/")
		if !resolve.SameOrigin(e.URL, r.URL) || !strings.HasPrefix(r.URL, at+"/") || len(at) < len(nearest) {
			continue
		}
		if len(at) > len(nearest) {
			nearest, f.access = at, s.accessTo(r.URL)
		}
		f.access, f.home = f.access.or(accessOf(e)), e.URL
	}
	return f, nil
}

// Fetch returns the archive, from the cache if possible, after checking that it is signed as
// flags and sources.yaml demand. Errors: *DigestError if the bytes are not those that were
// promised, *UnverifiedError, *OfflineError, *StatusError.
func (s *Sources) Fetch(ctx context.Context, f Found) (Fetched, error) {
	// Two dependencies may be one chart, whose archive is fetched once for both.
	same := fmt.Sprintf("%s %s %s %s %s %+v", f.URL, f.Digest, f.Manifest, f.promised, f.home, f.access)
	one, err, _ := s.underway.Do(same, func() (any, error) { return s.fetch(ctx, f) })
	if err != nil {
		return Fetched{}, err
	}
	fetched, _ := one.(Fetched)
	f.Digest = fetched.Digest
	fetched.Found = f
	if err := s.verify(ctx, &fetched); err != nil {
		return Fetched{}, err
	}
	return fetched, nil
}

func (s *Sources) fetch(ctx context.Context, f Found) (Fetched, error) {
	if f.image != nil {
		return s.fetchImage(ctx, f)
	}
	known := f.Digest
	if known == "" && s.Offline {
		_, known = s.noted(f.URL)
	}
	if data, ok := s.cached(known, chartContent); ok {
		f.Digest = known
		return Fetched{Found: f, Data: data, Cached: true}, nil
	}
	data, err := s.download(ctx, f, f.URL, MaxArchiveBytes)
	if err != nil {
		return Fetched{}, err
	}
	out := Fetched{Found: f, Data: data}
	if got := Digest(data); f.Digest != "" && got != f.Digest {
		out.Mismatch = &DigestError{What: resolve.Public(f.URL), Want: f.Digest, Got: got}
		if !s.AllowMismatch {
			return Fetched{}, out.Mismatch
		}
	}
	if out.Digest, err = s.keep(data, chartContent); err != nil {
		return Fetched{}, err
	}
	if f.Repository != "" && f.Digest != "" {
		return out, nil // the index refers to it
	}
	return out, s.note(f.URL, out.Digest)
}

// unencoded is the Accept-Encoding for files whose bytes count. The transport then decodes nothing: some
// servers call an archive's own compression a Content-Encoding. Helm 4.3.1 switches off the transport's
// compression for them (pkg/getter/httpgetter.go, httpClient).
const unencoded = "identity"

// download fetches a file of a chart, of at most most bytes.
func (s *Sources) download(ctx context.Context, f Found, at string, most int64) ([]byte, error) {
	resp, err := s.get(ctx, request{
		url: at, access: f.access, home: f.home,
		header: http.Header{"Accept": {"application/gzip,application/octet-stream"}, "Accept-Encoding": {unencoded}},
	})
	if err != nil {
		return nil, err
	}
	return readBody(resp, at, most)
}

// File fetches a file of at most most bytes that is not a chart, with no credentials except
// those of the netrc file.
func (s *Sources) File(ctx context.Context, url string, most int64) ([]byte, error) {
	resp, err := s.get(ctx, request{url: url})
	if err != nil {
		return nil, err
	}
	return readBody(resp, url, most)
}

// readBody reads a response body of at most most bytes, and closes it.
func readBody(resp *http.Response, at string, most int64) ([]byte, error) {
	defer resp.Body.Close()
	if resp.ContentLength > most {
		return nil, &inputfile.TooLargeError{Name: resolve.Public(at), Most: most}
	}
	data, err := inputfile.ReadAll(resp.Body, resolve.Public(at), most)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", resolve.Public(at), err)
	}
	return data, nil
}

// FileName returns the file name under which the archive is written to a folder: the last part of its
// URL. An index does not choose names of other files than archives, such as .bashrc.
func (f Found) FileName() string {
	if f.image != nil {
		return f.image.Name() + "-" + cmp.Or(f.Version, f.image.Tag, "sha256-"+strings.TrimPrefix(f.Manifest, "sha256:")) + ".tgz"
	}
	name, err := resolve.FileName(f.URL)
	if err != nil || f.Repository != "" && path.Ext(name) != ".tgz" {
		return cmp.Or(f.Name, "chart") + "-" + cmp.Or(f.Version, "0") + ".tgz"
	}
	return name
}

// String says which chart it is, where it is from, its digest, and who signed it.
func (f Fetched) String() string {
	what := "Chart"
	if f.Name != "" {
		what += strings.TrimRight(" "+f.Name+" "+f.Version, " ")
	}
	if f.Repository != "" {
		what += " of repository " + f.Repository
	}
	at := resolve.Public(f.URL)
	if f.Manifest != "" {
		at += "@" + f.Manifest + ", archive"
	}
	text := fmt.Sprintf("%s: %s %s", what, at, f.Digest)
	if f.Signature != nil {
		text += ", signed by " + f.Signature.String()
	}
	return text
}

// Tag returns the tag of a chart in a registry, "" for other sources.
func (f Found) Tag() string {
	if f.image == nil {
		return ""
	}
	return f.image.Tag
}

// Location returns the URL of the archive without passwords.
func (f Found) Location() string { return resolve.Public(f.URL) }
