package source

import (
	"fmt"
	"os"
	"time"
)

// Prunable returns the files of the cache that may be removed: all, or those that are
// broken, that nothing refers to, or that were fetched before older, unless that is zero.
// Unfinished files stay while somebody may still be writing them.
func Prunable(files []CacheFile, now, older time.Time, all bool) []CacheFile {
	var out []CacheFile
	for _, f := range files {
		if f.Kind == CachedUnfinished && now.Sub(f.Fetched) < unfinishedAfter {
			continue
		}
		if all || f.Broken || len(f.UsedBy) == 0 || f.Fetched.Before(older) {
			out = append(out, f)
		}
	}
	return out
}

// Prune removes files listed by Cache, and the notes that refer to them.
func (s *Sources) Prune(files []CacheFile) error {
	for _, f := range files {
		for _, file := range f.files {
			if err := os.Remove(file); !gone(err) {
				return fmt.Errorf("prune the cache: %w", err)
			}
		}
	}
	return s.notes(func(file, digest, _ string) error {
		for _, kind := range []string{chartContent, manifestContent} {
			if _, err := os.Lstat(s.contentFile(digest, kind)); err == nil {
				return nil
			}
		}
		if err := os.Remove(file); !gone(err) {
			return fmt.Errorf("prune the cache: %w", err)
		}
		return nil
	})
}
