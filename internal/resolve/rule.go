package resolve

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
)

// Rule is a signature policy: charts below a prefix are used only if they are signed.
type Rule struct {
	Prefix string `json:"prefix"`
	// Keyring is a file of OpenPGP keys. Signers, if given, restricts it to the keys with these
	// fingerprints or full names.
	Keyring string   `json:"keyring,omitempty"`
	Signers []string `json:"signers,omitempty"`
	// Key is a file with a cosign public key.
	Key string `json:"key,omitempty"`
	// Identity, or a regular expression that matches it, and the URL of its issuer say who must
	// have made a keyless cosign signature.
	Identity       string `json:"identity,omitempty"`
	IdentityRegexp string `json:"identityRegexp,omitempty"`
	Issuer         string `json:"issuer,omitempty"`
	// TrustedRoot is the file with the trusted root of the Sigstore instance; "" means
	// trusted_root.json next to sources.yaml.
	TrustedRoot string `json:"trustedRoot,omitempty"`
}

// Keyless reports whether the rule requires a keyless signature by an identity.
func (r Rule) Keyless() bool { return r.Identity != "" || r.IdentityRegexp != "" }

func (r Rule) validate() error {
	if u, err := url.Parse(r.Prefix); err != nil || u.Scheme == "" || u.Host == "" {
		return fmt.Errorf("prefix %q must be a URL or begin with %s", r.Prefix, Scheme)
	}
	if r.Keyring == "" && len(r.Signers) > 0 {
		return fmt.Errorf("%s: signers require a keyring", r.Prefix)
	}
	if err := r.Check(); err != nil {
		return fmt.Errorf("%s: %w", r.Prefix, err)
	}
	return nil
}

// Check returns an error unless the rule completely describes signers of exactly one kind.
func (r Rule) Check() error {
	kinds := 0
	for _, one := range []string{r.Keyring, r.Key, r.Identity, r.IdentityRegexp} {
		if one != "" {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return errors.New("give one of a keyring, a key, an identity, or a regular expression for identities")
	case r.Keyless() != (r.Issuer != ""):
		return errors.New("an identity and its issuer must be given together")
	case r.TrustedRoot != "" && !r.Keyless():
		return errors.New("a trusted root requires an identity")
	}
	if _, err := regexp.Compile(r.IdentityRegexp); err != nil {
		return fmt.Errorf("the regular expression for identities can't be read: %w", err)
	}
	return nil
}

// RuleFor returns the rule with the longest matching prefix for the first of the chart's URLs that
// any rule matches, or nil. Pass the repository's URL first, so that an index can't choose among
// rules by the URLs it lists.
func RuleFor(rules []Rule, urls ...string) *Rule {
	for _, text := range urls {
		var best *Rule
		for _, r := range rules {
			if below(r.Prefix, text) && (best == nil || len(r.Prefix) > len(best.Prefix)) {
				best = &r
			}
		}
		if best != nil {
			return best
		}
	}
	return nil
}

// below reports whether a URL or image reference is at or below a prefix, however they are spelled.
func below(prefix, text string) bool {
	from, at, errFrom := plainURL(prefix)
	to, place, errTo := plainURL(text)
	if errFrom != nil || errTo != nil || from != to {
		return false
	}
	rest, ok := strings.CutPrefix(place, at)
	return ok && (rest == "" || strings.HasSuffix(at, "/") || strings.ContainsAny(rest[:1], "/:@"))
}

// plainURL returns a URL's origin and path in a normalised spelling.
func plainURL(text string) (origin, at string, err error) {
	image := IsRegistry(text)
	if image {
		text = "https://" + strings.TrimPrefix(text, Scheme)
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return "", "", cmp.Or(err, errors.New("it has no host"))
	}
	origin = Origin(u)
	if image {
		origin = Scheme + origin
	}
	return origin, path.Clean("/" + u.Path), nil
}
