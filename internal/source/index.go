package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/outputfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// answer holds the validators that a server sent with an index, for the next conditional
// request. They are used only while the cached index is the one they came with.
type answer struct {
	// Source is the SHA-256 of the index's URL, which may hold a password or a token.
	Source       string `json:"source"`
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"lastModified,omitempty"`
	Digest       string `json:"digest"`
}

// Update is the result of updating the index of one repository.
type Update struct {
	Name, URL string
	// Changed reports whether there is a new index.
	Changed bool
	Err     error
}

// parallel is how many requests are in flight at the same time.
const parallel = 8

// UpdateIndexes fetches the indexes of repositories that have changed, and returns the result
// for each repository, in order.
func (s *Sources) UpdateIndexes(ctx context.Context, repositories []resolve.Repository) []Update {
	out := make([]Update, len(repositories))
	var g errgroup.Group
	g.SetLimit(parallel)
	for i, r := range repositories {
		g.Go(func() error {
			changed, err := s.fetchIndex(ctx, r.Name, r.URL, accessOf(r))
			out[i] = Update{Name: r.Name, URL: r.URL, Changed: changed, Err: err}
			return nil
		})
	}
	_ = g.Wait()
	return out
}

// fetchIndex brings the cached index of a repository up to date, and reports whether it has
// changed. If fetching fails, the cached one stays as it was.
func (s *Sources) fetchIndex(ctx context.Context, name, base string, a Access) (changed bool, err error) {
	at, err := resolve.IndexURL(base)
	if err != nil {
		return false, err
	}
	if s.Paths.RepositoryCache == "" {
		return false, fmt.Errorf("keep the index of %s: %w", resolve.Public(base), errNoFolder)
	}
	if err := os.MkdirAll(s.Paths.RepositoryCache, 0o755); err != nil {
		return false, err
	}
	before := s.answered(name, at)
	resp, err := s.get(ctx, request{url: at, access: a, home: base, header: before.condition()})
	if err != nil {
		return false, fmt.Errorf("%s is not a repository that can be read: %w", resolve.Public(base), err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotModified {
		return false, nil
	}
	file, err := outputfile.Create(s.Paths.index(name), 0o644)
	if err != nil {
		return false, err
	}
	defer file.Discard()
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(file, hash), io.LimitReader(resp.Body, resolve.MaxIndexBytes+1))
	if err != nil {
		return false, fmt.Errorf("fetch %s: %w", resolve.Public(at), err)
	}
	if n > resolve.MaxIndexBytes {
		return false, &inputfile.TooLargeError{Name: resolve.Public(at), Most: resolve.MaxIndexBytes}
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	index, err := resolve.ReadIndex(file, resolve.Only())
	if err != nil {
		return false, fmt.Errorf("%s is not an index of charts: %w", resolve.Public(at), err)
	}
	after := answer{Source: Digest([]byte(at)), ETag: resp.Header.Get("ETag"), LastModified: resp.Header.Get("Last-Modified"), Digest: "sha256:" + hex.EncodeToString(hash.Sum(nil))}
	if err := file.Commit(); err != nil {
		return false, err
	}
	return after.Digest != before.Digest, errors.Join(s.writeNames(name, index.Names), s.writeAnswer(name, after))
}

// writeNames writes the charts' names, for Helm's completion and ours.
func (s *Sources) writeNames(name string, charts []string) error {
	text := strings.Join(charts, "\n")
	if text != "" {
		text += "\n"
	}
	return outputfile.Write(s.Paths.charts(name), []byte(text), 0o644)
}

func (s *Sources) writeAnswer(name string, a answer) error {
	data, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return outputfile.Write(s.Paths.answer(name), append(data, '\n'), 0o600)
}

// answered returns the validators that came with the cached index; none if that is a different
// one, because Helm fetched it or somebody damaged it. A file that is not about this URL is removed:
// those of earlier versions have the URL itself.
func (s *Sources) answered(name, url string) answer {
	data, err := inputfile.Read(s.Paths.answer(name), maxConfigBytes)
	if err != nil {
		return answer{}
	}
	var a answer
	if json.Unmarshal(data, &a) != nil || a.Source != Digest([]byte(url)) {
		_ = os.Remove(s.Paths.answer(name))
		return answer{}
	}
	f, err := os.Open(s.Paths.index(name))
	if err != nil {
		return answer{}
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil || "sha256:"+hex.EncodeToString(hash.Sum(nil)) != a.Digest {
		return answer{}
	}
	return a
}

func (a answer) condition() http.Header {
	h := http.Header{}
	switch {
	case a.ETag != "":
		h.Set("If-None-Match", a.ETag)
	case a.LastModified != "":
		h.Set("If-Modified-Since", a.LastModified)
	}
	return h
}

// readIndex reads a cached index. Errors: *NoIndexError.
func (s *Sources) readIndex(name string, wanted func(string) bool) (*resolve.Index, error) {
	f, err := os.Open(s.Paths.index(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &NoIndexError{Repository: name}
	}
	if err != nil {
		return nil, fmt.Errorf("read the index of %s: %w", name, err)
	}
	defer f.Close()
	index, err := resolve.ReadIndex(f, wanted)
	if err != nil {
		return nil, fmt.Errorf("read the cached index of %s: %w", name, err)
	}
	return index, nil
}

// Index reads the cached index of a configured repository. Errors: *NoIndexError.
func (s *Sources) Index(name string) (*resolve.Index, error) { return s.readIndex(name, resolve.All) }

const unmanagedPrefix = "helm-manager-"

// unmanaged returns the name of the cached index of a repository that is not configured, as in
// Helm's dependency commands (Helm 4.3.1, pkg/downloader/manager.go, ensureMissingRepos and key).
func unmanaged(url string) string {
	return unmanagedPrefix + strings.TrimPrefix(Digest([]byte(url)), "sha256:")
}

// NoIndexError says that the index of a repository was never fetched.
type NoIndexError struct{ Repository string }

func (e *NoIndexError) Error() string {
	return fmt.Sprintf("the index of repository %s is missing", e.Repository)
}
