package source

import (
	"fmt"
	"os"
	"time"
)

// Prunable are the files of the cache that may go: all, or those that nothing leads to
// or that are broken, and those that were fetched before older, where that is not
// zero. What is unfinished stays while somebody may still be writing it.
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

// Prune removes files that Cache has listed, and what was noted about them.
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
