package source

import (
	"regexp"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// What oras-go says about an answer that announces other content than was asked for (oras-go 2.6.4,
// registry/remote/repository.go: Fetch of a blob, generateDescriptor, verifyContentDigest).
var (
	otherDigest = regexp.MustCompile(`digest mismatch in Docker-Content-Digest: received "([^"]*)" when expecting "([^"]*)"`)
	quotedURL   = regexp.MustCompile(`"https?://[^"]*"`)
)

const otherSize = "mismatch Content-Length"

// announced returns a *DigestError if err says that an answer announces other content than was asked for,
// otherwise err. what is what was asked for, want its digest.
func announced(what, want string, err error) error {
	if found := otherDigest.FindStringSubmatch(err.Error()); found != nil {
		return &DigestError{What: what, Want: found[2], Got: found[1]}
	}
	if strings.Contains(err.Error(), otherSize) {
		return &DigestError{What: what, Want: want}
	}
	return err
}

// public is an error in whose text URLs have no secrets.
type public struct {
	text string
	err  error
}

func (e *public) Error() string { return e.text }

func (e *public) Unwrap() error { return e.err }

// withoutSecrets returns an error of oras-go without what is secret in the URLs that it quotes: one may be
// a signed one of a storage, to which the registry has redirected.
func withoutSecrets(err error) error {
	text := quotedURL.ReplaceAllStringFunc(err.Error(), func(quoted string) string {
		return `"` + resolve.Public(strings.Trim(quoted, `"`)) + `"`
	})
	return &public{text, err}
}
