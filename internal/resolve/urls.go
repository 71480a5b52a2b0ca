package resolve

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
)

// ChartURL returns the URL of a chart in an index: text is from the entry's urls, base is the URL
// of the repository. A relative text is resolved below base and gets its query, as in Helm 4.3.1
// (pkg/repo/v1/chartrepo.go, ResolveReferenceURL), unless it names another server: a query may
// hold a token.
func ChartURL(base, text string) (string, error) {
	if text == "" {
		return "", errors.New("the index has an empty URL for it")
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", fmt.Errorf("%q is not a URL: %w", text, err)
	}
	if u.IsAbs() {
		return u.String(), nil
	}
	b, err := url.Parse(base)
	if err != nil {
		return "", fmt.Errorf("%q is not a URL: %w", base, err)
	}
	b.Path = strings.TrimRight(b.Path, "/") + "/"
	if b.RawPath != "" {
		b.RawPath = strings.TrimRight(b.RawPath, "/") + "/"
	}
	out := b.ResolveReference(u)
	if Origin(out) == Origin(b) {
		out.RawQuery = b.RawQuery
	}
	return out.String(), nil
}

// IndexURL returns the URL of a repository's index.
func IndexURL(base string) (string, error) {
	u, err := url.Parse(base)
	if err != nil {
		return "", fmt.Errorf("%q is not a URL: %w", base, err)
	}
	return u.JoinPath("index.yaml").String(), nil
}

// FileName returns the last element of a URL's path: the name of an archive.
func FileName(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", fmt.Errorf("%q is not a URL: %w", text, err)
	}
	name := path.Base(u.Path)
	if name == "." || name == "/" || name == ".." || strings.ContainsAny(name, "/\\\x00") {
		return "", fmt.Errorf("%s does not end with the name of a file", text)
	}
	return name, nil
}

// Beside returns a URL with suffix appended to its path, such as that of a chart's provenance file.
func Beside(text, suffix string) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", fmt.Errorf("%q is not a URL: %w", text, err)
	}
	u.Path += suffix
	if u.RawPath != "" {
		u.RawPath += suffix
	}
	return u.String(), nil
}

// Origin returns the part of a URL that credentials belong to: scheme, host and port (RFC 6454,
// section 4).
func Origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		switch strings.ToLower(u.Scheme) {
		case "https":
			port = "443"
		case "http":
			port = "80"
		}
	}
	return strings.ToLower(u.Scheme) + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

// withheld replaces a query, which may contain a token.
const withheld = "withheld"

// Public returns a URL as anybody may see it: without user name, password, query and fragment. Text
// that is not a URL is returned unchanged.
func Public(text string) string {
	if !strings.Contains(text, "://") {
		return text
	}
	u, err := url.Parse(text)
	if err != nil {
		return "a URL that can't be read"
	}
	if u.User == nil && u.RawQuery == "" && u.Fragment == "" {
		return text
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	if u.RawQuery != "" {
		u.RawQuery = withheld
	}
	return u.String()
}

// Withheld reports whether Public has replaced the query of a URL, which may mean something else
// without it.
func Withheld(public string) bool { return strings.HasSuffix(public, "?"+withheld) }

// SameOrigin reports whether two URLs have the same origin.
func SameOrigin(a, b string) bool {
	u, errA := url.Parse(a)
	v, errB := url.Parse(b)
	return errA == nil && errB == nil && Origin(u) == Origin(v)
}

// Mirror replaces a prefix of the URLs to fetch from.
type Mirror struct {
	Prefix string `json:"prefix"`
	To     string `json:"to"`
}

// Mirrored returns a URL or an image's reference with the longest matching prefix replaced. A prefix
// matches only if it ends with a slash, before one of / : @ ?, or at the end of the URL.
func Mirrored(mirrors []Mirror, text string) string {
	best := Mirror{}
	for _, m := range mirrors {
		rest, ok := strings.CutPrefix(text, m.Prefix)
		ends := rest == "" || strings.HasSuffix(m.Prefix, "/") || rest != "" && strings.ContainsAny(rest[:1], "/:@?")
		if ok && ends && len(m.Prefix) > len(best.Prefix) {
			best = m
		}
	}
	if best.Prefix == "" {
		return text
	}
	return best.To + strings.TrimPrefix(text, best.Prefix)
}
