// Package resolve decides which chart a reference means (a folder or archive, a chart in a
// repository, a URL, or an image in a registry), which of the available versions, and which URL it
// comes from. It reads repositories.yaml, index.yaml and Chart.lock in the formats of Helm 4.3.1.
//
// It is pure: it fetches nothing and reads no files. Package source does that and passes in the
// contents.
package resolve

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// Request is what the user specified about the wanted chart.
type Request struct {
	// Chart is the argument.
	Chart string
	// Repo is the URL of --repo, or "".
	Repo string
	// Version is a version, a range, "latest", or "" for the newest version that is not a
	// prerelease. A digest may follow: 1.4.2@sha256:….
	Version string
	// Devel also allows prereleases if Version is "" or "latest".
	Devel bool
	// Tag is a tag in a registry, used as is.
	Tag string
	// Tags, if not "", is a regular expression: Version chooses among the registry's tags that
	// match it, by the rules of Flux's source-controller instead of Helm's, so v1.2.3 is a version
	// too.
	Tags string
	// PlusTags, with Tags, says that _ in a tag stands for the + of a version, as in tags that Helm
	// writes.
	PlusTags bool
	// AnyBuild chooses in a repository by the rules of Flux's source-controller instead of Helm's: an
	// exact version that the index does not have is a range, in which other builds of it are, and of
	// the builds of one version the one that was created last is taken (v1.9.1,
	// internal/helm/repository/chart_repository.go, getChartVersion).
	AnyBuild bool
}

// AnyTag is a Request.Tags that matches all tags.
const AnyTag = "."

// Kind is where a chart lives.
type Kind int

const (
	// Local is a folder or an archive at Reference.Path.
	Local Kind = iota
	// Remote is an archive at Reference.URL.
	Remote
	// Configured is chart Reference.Name of the repository that repositories.yaml
	// calls Reference.Repository.
	Configured
	// Unconfigured is chart Reference.Name of the repository at Reference.URL.
	Unconfigured
	// Registry is the image Reference.Image.
	Registry
	// Vendored is a dependency without a repository: it is already in charts/.
	Vendored
)

// Reference is a parsed request.
type Reference struct {
	Kind             Kind
	Path             string
	URL              string
	Repository, Name string
	Image            Image
	Version          Wanted
	// Digest is the required digest of the archive or, for an image, of its manifest: "sha256:" and
	// hex, or "".
	Digest string
	// Tags and PlusTags are those of the Request.
	Tags     string
	PlusTags bool
}

// Parse interprets a request in Helm 4.3.1's order (pkg/action/install.go, LocateChart): existing
// local paths first, then --repo, registries, URLs, and REPO/NAME last. local reports whether a
// path exists; schemes lists the URL schemes besides http and https that can be fetched. Errors are
// sentences about the request; some are a *NoPathError or a *SchemeError.
func Parse(r Request, local func(path string) bool, schemes []string) (Reference, error) {
	name := strings.TrimSpace(r.Chart)
	version, digest, err := splitDigest(strings.TrimSpace(r.Version))
	if err != nil {
		return Reference{}, fmt.Errorf("--version %s: %w", r.Version, err)
	}
	ref := Reference{Version: Wanted{Version: version, Devel: r.Devel, Range: r.Tags != "" || r.AnyBuild, LastCreated: r.AnyBuild}, Digest: digest, Tags: r.Tags, PlusTags: r.PlusTags}
	switch {
	case name == "":
		return Reference{}, errors.New("the name of the chart is empty")
	case r.Repo == "" && local(name):
		ref.Kind, ref.Path = Local, name
		return ref, nil
	case r.Repo == "" && misspelt(name):
		return Reference{}, fmt.Errorf("%s: a chart in a registry is written %sHOST/PATH[:TAG][@DIGEST]", publicImage(name), Scheme)
	case r.Repo == "" && (filepath.IsAbs(name) || strings.HasPrefix(name, ".")):
		return Reference{}, &NoPathError{Path: name}
	case r.Tag != "" && !IsRegistry(name):
		return Reference{}, fmt.Errorf("--tag %s is only for charts in registries (oci://…), which %s is not", r.Tag, Public(name))
	case r.Repo != "":
		return ref.unconfigured(r.Repo, name)
	case IsRegistry(name):
		return ref.registry(name, r.Tag)
	}
	if u, err := url.Parse(name); err == nil && u.Scheme != "" && strings.Contains(name, "://") {
		return ref.remote(name, u, schemes)
	}
	return ref.configured(name)
}

func (r Reference) unconfigured(repo, name string) (Reference, error) {
	if IsRegistry(repo) {
		repo = publicImage(repo)
		return Reference{}, fmt.Errorf("--repo %s is a registry, which has no index: name the chart %s/%s", repo, strings.TrimSuffix(repo, "/"), name)
	}
	if u, err := url.Parse(repo); err != nil || u.Scheme == "" || u.Host == "" {
		return Reference{}, fmt.Errorf("--repo %s is not the URL of a repository", Public(repo))
	}
	r.Kind, r.URL, r.Name = Unconfigured, repo, name
	return r, nil
}

func (r Reference) remote(text string, u *url.URL, schemes []string) (Reference, error) {
	switch u.Scheme {
	case "http", "https":
		if u.Host == "" || u.Path == "" {
			return Reference{}, fmt.Errorf("%s is not the URL of a chart: it has no host or no path", Public(text))
		}
	default:
		if !slices.Contains(schemes, u.Scheme) {
			return Reference{}, &SchemeError{Scheme: u.Scheme, URL: Public(text)}
		}
	}
	r.Kind, r.URL = Remote, text
	return r, nil
}

func (r Reference) configured(name string) (Reference, error) {
	repository, chart, ok := strings.Cut(name, "/")
	if !ok || repository == "" || chart == "" {
		return Reference{}, fmt.Errorf("there is no folder or file %s, and a chart of a repository is written REPO/NAME", name)
	}
	if login, host, ok := strings.Cut(repository, "@"); ok && strings.Contains(login, ":") {
		return Reference{}, fmt.Errorf("%s/%s: the name of a repository has no user or password, and a reference to a registry begins with %s", host, chart, Scheme)
	}
	r.Kind, r.Repository, r.Name = Configured, repository, chart
	return r, nil
}

// NoPathError says that a path does not exist.
type NoPathError struct{ Path string }

func (e *NoPathError) Error() string { return fmt.Sprintf("path %q does not exist", e.Path) }

// SchemeError says that URLs with a scheme can't be fetched.
type SchemeError struct{ Scheme, URL string }

func (e *SchemeError) Error() string {
	return fmt.Sprintf("%s: URLs of scheme %q can't be fetched; http, https, oci and those of getter plugins can", e.URL, e.Scheme)
}
