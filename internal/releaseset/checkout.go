package releaseset

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Checkout is what is known about the Git repository whose files are read.
type Checkout struct {
	// Remotes are its URLs on other machines; none outside of Git.
	Remotes []string
	// Branch is the one that a change is to be merged into or, where nothing is compared, the
	// one that is checked out; "" when it is unknown.
	Branch string
}

// Likeness says whether a URL is that of a checkout's repository.
type Likeness int

const (
	// Incomparable is a URL, or a checkout, that can't be compared.
	Incomparable Likeness = iota
	// Same is the URL of a remote, however it is written.
	Same
	// Namesake has only the last part in common with a remote: a fork, a mirror, or a
	// repository of the same name.
	Namesake
	// Other is another repository.
	Other
)

// Compare returns whether a URL is that of the repository.
func (c Checkout) Compare(url string) Likeness {
	wanted, places := Location(url), c.Places()
	switch {
	case wanted == "" || len(places) == 0:
		return Incomparable
	case slices.Contains(places, wanted):
		return Same
	case slices.ContainsFunc(places, func(p string) bool { return path.Base(p) == path.Base(wanted) }):
		return Namesake
	}
	return Other
}

// Unlike says how a URL of another repository differs: "is example.com/a/b, not a remote of
// this checkout (example.com/a/c)".
func (c Checkout) Unlike(url string) string {
	return fmt.Sprintf("is %s, not a remote of this checkout (%s)", Location(url), strings.Join(c.Places(), ", "))
}

// Places returns the locations of the remotes, each once.
func (c Checkout) Places() []string {
	var out []string
	for _, url := range c.Remotes {
		if p := Location(url); p != "" && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// Location returns "example.com/owner/repository" for a repository's URL, without
// anything in which several URLs of one repository differ, such as credentials; "" for a
// path on this machine. Case does not count: no forge has two repositories that differ
// in nothing else.
func Location(url string) string {
	scheme, rest, hasScheme := strings.Cut(strings.ToLower(strings.TrimSpace(url)), "://")
	switch {
	case scheme == "file":
		return ""
	case !hasScheme: // as scp takes it: host:path
		host, folder, ok := strings.Cut(scheme, ":")
		if !ok || len(host) < 2 || strings.Contains(host, "/") {
			return ""
		}
		rest = host + "/" + folder
	}
	rest, _, _ = strings.Cut(rest, "?")
	host, folder, _ := strings.Cut(rest[strings.LastIndexByte(rest, '@')+1:], "/")
	host, _, _ = strings.Cut(host, ":")
	folder = strings.Trim(strings.TrimSuffix(strings.Trim(folder, "/"), ".git"), "/")
	for _, prefix := range []string{"ssh.", "altssh."} { // for networks that block port 22, and Azure DevOps
		host = strings.TrimPrefix(host, prefix)
	}
	for _, prefix := range []string{"v3/", "scm/"} { // SSH on Azure DevOps, HTTP on Bitbucket Data Center
		folder = strings.TrimPrefix(folder, prefix)
	}
	folder = strings.Replace(folder, "/_git/", "/", 1) // HTTP on Azure DevOps
	if host == "" || folder == "" {
		return ""
	}
	return host + "/" + folder
}

// ElsewhereError says that a chart is not in the checkout, but may be in another version of the repository, from
// which its release is deployed.
type ElsewhereError struct{ What string }

func (e *ElsewhereError) Error() string { return e.What }
