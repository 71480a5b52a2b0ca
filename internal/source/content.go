package source

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/outputfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// Extensions of files in the content cache that Helm has too.
const (
	chartContent      = ".chart"
	provenanceContent = ".prov"
)

// notesFolder is where note writes, below the content cache.
const notesFolder = "urls"

// MaxArchiveBytes is the maximum size of a chart's archive.
const MaxArchiveBytes = 100 << 20

// Digest returns the SHA-256 of data, "sha256:" and hex.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// contentFile returns the path where Helm 4 stores content with a digest.
func (s *Sources) contentFile(digest, kind string) string {
	hex := strings.TrimPrefix(digest, "sha256:")
	return below(s.Paths.ContentCache, hex[:2], hex+kind)
}

// cached returns what is offered or in the cache under a digest, if it really has that digest:
// Helm 4.3.1 stores what it fetched under the digest that an index promised.
func (s *Sources) cached(digest, kind string) ([]byte, bool) {
	if digest == "" {
		return nil, false
	}
	s.mutex.Lock()
	data, here := s.offered[digest]
	s.mutex.Unlock()
	if here && kind == chartContent {
		return data, true
	}
	data, err := inputfile.Read(s.contentFile(digest, kind), MaxArchiveBytes)
	if err != nil || Digest(data) != digest {
		return nil, false
	}
	return data, true
}

// keep stores data in the cache under its own digest, and returns that.
func (s *Sources) keep(data []byte, kind string) (string, error) {
	digest := Digest(data)
	if _, ok := s.cached(digest, kind); ok {
		return digest, nil
	}
	file := s.contentFile(digest, kind)
	if err := replace(file, data); err != nil {
		return "", fmt.Errorf("keep it in the cache: %w", err)
	}
	return digest, nil
}

// replace writes a file of a cache, creating its folder. Without a cache, it does nothing: what was
// fetched is used all the same.
func replace(file string, data []byte) error {
	if file == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return outputfile.Write(file, data, 0o644)
}

// note records the digest that a URL had when it was last fetched, for --offline.
func (s *Sources) note(url, digest string) error {
	return replace(s.noteFile(url), []byte(digest+"\n"))
}

func (s *Sources) noteFile(url string) string {
	return below(s.Paths.ContentCache, notesFolder, strings.TrimPrefix(Digest([]byte(url)), "sha256:"))
}

// noted returns the digest recorded by note, and the tag before it if there was one; "" without a
// note, or if it is damaged.
func (s *Sources) noted(url string) (tag, digest string) {
	data, err := inputfile.Read(s.noteFile(url), 1024)
	if err != nil {
		return "", ""
	}
	text := strings.TrimSpace(string(data))
	if before, after, two := strings.Cut(text, " "); two {
		tag, text = before, after
	}
	if digest, err = resolve.Digest(text); err != nil {
		return "", ""
	}
	return tag, digest
}

// gone reports whether a file no longer exists, given the error of removing it.
func gone(err error) bool { return err == nil || errors.Is(err, fs.ErrNotExist) }

// DigestError says that bytes are not those that were promised.
type DigestError struct {
	// Got is "" if there are fewer or more bytes than there would have to be.
	What, Want, Got string
}

func (e *DigestError) Error() string {
	if e.Got == "" {
		return fmt.Sprintf("%s has another size than what was promised, %s: it is not used", e.What, e.Want)
	}
	return fmt.Sprintf("%s has digest %s, but %s was promised: it is not used", e.What, e.Got, e.Want)
}
