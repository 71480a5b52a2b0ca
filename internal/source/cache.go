package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/outputfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// Kinds of cache entries, as shown to users.
const (
	CachedChart      = "chart"
	CachedProvenance = "provenance"
	CachedSignature  = "signature"
	CachedManifest   = "manifest"
	CachedIndex      = "index"
	// CachedUnfinished is a file left by a run that was killed while writing it.
	CachedUnfinished = "unfinished"
)

// unfinishedAfter is the age after which an unfinished file is no longer being written.
const unfinishedAfter = time.Hour

// CacheFile is an entry of the cache.
type CacheFile struct {
	Kind string
	// Name is the repository of an index, or the file name of an unfinished file.
	Name string
	// Digest is the digest that content is stored under.
	Digest string
	// Bytes is the size.
	Bytes   int64
	Fetched time.Time
	// UsedBy describes what refers to it: chart versions in indexes, and tags and URLs
	// that were fetched. It is empty for an index whose repository was removed.
	UsedBy []string
	// Broken reports whether it is not what it is stored as, and therefore never used.
	Broken bool

	files []string
}

// Cache lists the entries of the index and content caches, in the order of file names.
// Files that neither Helm nor we put there are skipped.
func (s *Sources) Cache() ([]CacheFile, error) {
	uses := map[string][]string{}
	out, err := s.cachedIndexes(uses)
	if err != nil {
		return nil, fmt.Errorf("list the cache: %w", err)
	}
	contents, err := s.contents()
	if err == nil {
		err = s.notes(func(_, digest, what string) error {
			uses[digest] = append(uses[digest], what)
			return nil
		})
	}
	if err != nil {
		return nil, fmt.Errorf("list the cache: %w", err)
	}
	for _, f := range contents {
		if f.Kind == CachedManifest && !f.Broken && len(uses[f.Digest]) > 0 {
			s.layerUses(f, uses)
		}
	}
	for i, f := range contents {
		used := slices.Clone(uses[f.Digest])
		slices.Sort(used)
		contents[i].UsedBy = slices.Compact(used)
	}
	return append(out, contents...), nil
}

// cachedIndexes lists the indexes, and adds what they refer to to uses.
func (s *Sources) cachedIndexes(uses map[string][]string) ([]CacheFile, error) {
	known, err := s.Repositories()
	if err != nil {
		return nil, err
	}
	return listed(s.Paths.RepositoryCache, func(f *CacheFile, file string) bool {
		name, ok := strings.CutSuffix(file, "-index.yaml")
		if !ok {
			return false
		}
		f.Kind, f.Name = CachedIndex, name
		f.files = append(f.files, s.Paths.charts(name), s.Paths.answer(name))
		if _, configured := known.Find(name); configured {
			f.UsedBy = []string{"repository " + name}
		} else if strings.HasPrefix(name, unmanagedPrefix) {
			f.UsedBy = []string{"a repository that is not configured"}
		} else {
			return true
		}
		f.Broken = s.indexUses(name, uses) != nil
		return true
	})
}

func (s *Sources) indexUses(name string, uses map[string][]string) error {
	index, err := s.Index(name)
	if err != nil {
		return err
	}
	for _, chart := range index.Names {
		entries, _, err := index.Versions(chart)
		if err != nil {
			continue // its entries are never used
		}
		for _, e := range entries {
			if digest, err := resolve.Digest(e.Digest); err == nil {
				uses[digest] = append(uses[digest], chart+" "+e.Version)
			}
		}
	}
	return nil
}

// layerUses adds the layers of a manifest to uses, with the chart's name and version from it.
func (s *Sources) layerUses(f CacheFile, uses map[string][]string) {
	data, _ := s.cached(f.Digest, manifestContent)
	var m ocispec.Manifest
	if json.Unmarshal(data, &m) != nil {
		return
	}
	for _, layer := range m.Layers {
		chart := m.Annotations[ocispec.AnnotationTitle] + " " + m.Annotations[ocispec.AnnotationVersion]
		uses[string(layer.Digest)] = append(uses[string(layer.Digest)], chart)
	}
}

// contents lists what is stored under digests.
func (s *Sources) contents() ([]CacheFile, error) {
	kinds := map[string]string{chartContent: CachedChart, provenanceContent: CachedProvenance, signatureContent: CachedSignature, manifestContent: CachedManifest}
	folders, err := os.ReadDir(s.Paths.ContentCache)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []CacheFile
	for _, folder := range folders {
		some, err := listed(filepath.Join(s.Paths.ContentCache, folder.Name()), func(f *CacheFile, file string) bool {
			digest, err := resolve.Digest(strings.TrimSuffix(file, filepath.Ext(file)))
			f.Kind, f.Digest = kinds[filepath.Ext(file)], digest
			if err != nil || f.Kind == "" {
				return false
			}
			// A signature is stored under the digest of what it signs.
			beside := f.Kind == CachedProvenance || f.Kind == CachedSignature
			if _, right := s.cached(digest, filepath.Ext(file)); !right && !beside {
				f.Broken = true
			}
			return true
		})
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}

// listed returns the files of a folder that known recognizes and completes, and unfinished
// ones; none if there is no such folder.
func listed(dir string, known func(f *CacheFile, file string) bool) ([]CacheFile, error) {
	entries, err := os.ReadDir(dir)
	if info, stat := os.Lstat(dir); stat == nil && !info.IsDir() || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []CacheFile
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue // it was removed meanwhile, or is not one of our files
		}
		f := CacheFile{Bytes: info.Size(), Fetched: info.ModTime(), files: []string{filepath.Join(dir, e.Name())}}
		unfinished := strings.HasPrefix(e.Name(), outputfile.Prefix)
		if unfinished {
			f.Kind, f.Name = CachedUnfinished, e.Name()
		}
		if unfinished || known(&f, e.Name()) {
			out = append(out, f)
		}
	}
	return out, nil
}

// notes calls each with every note's file, the digest in it, and whether it is for a tag or URL.
func (s *Sources) notes(each func(file, digest, what string) error) error {
	dir := below(s.Paths.ContentCache, notesFolder)
	if dir == "" {
		return nil // the working directory is no cache
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		file := filepath.Join(dir, e.Name())
		data, err := inputfile.Read(file, 1024)
		if err != nil {
			continue
		}
		what, digest := "a URL", strings.TrimSpace(string(data))
		if tag, manifest, ok := strings.Cut(digest, " "); ok {
			what, digest = "tag "+tag, manifest
		}
		if _, err := resolve.Digest(digest); err != nil {
			continue
		}
		if err := each(file, digest, what); err != nil {
			return err
		}
	}
	return nil
}
