package source

import (
	"encoding/json"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// Indexed remembers the archives of a folder that an index was made of, by their names. One
// with unchanged size and modification time is not read again.
type Indexed map[string]indexed

// indexed is an archive as it was read.
type indexed struct {
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	resolve.Packaged
}

// quietFor is how long an archive may still change without getting a new modification time, since
// the timestamps of file systems have a granularity of up to two seconds.
const quietFor = 2 * time.Second

// Get returns what was read of an archive, and false if it has changed since or is not known.
func (x Indexed) Get(name string, info fs.FileInfo) (resolve.Packaged, bool) {
	known, ok := x[name]
	return known.Packaged, ok && known.Metadata != nil && known.Size == info.Size() && known.Modified.Equal(info.ModTime())
}

// Keep remembers what was read of an archive, unless it was modified too shortly before now.
func (x Indexed) Keep(info fs.FileInfo, read resolve.Packaged, now time.Time) {
	if now.Sub(info.ModTime()) > quietFor {
		x[read.Path] = indexed{Size: info.Size(), Modified: info.ModTime(), Packaged: read}
	}
}

// Indexed returns what is remembered of a folder; nothing if that can't be read.
func (s *Sources) Indexed(folder string) Indexed {
	out := Indexed{}
	data, err := inputfile.Read(s.indexedFile(folder), resolve.MaxIndexBytes)
	if err != nil || json.Unmarshal(data, &out) != nil {
		return Indexed{}
	}
	return out
}

// KeepIndexed stores what is remembered of a folder for the next run.
func (s *Sources) KeepIndexed(folder string, x Indexed) error {
	file := s.indexedFile(folder)
	data, err := json.Marshal(x)
	if err != nil {
		return err
	}
	return replace(file, data)
}

func (s *Sources) indexedFile(folder string) string {
	real, err := filepath.Abs(folder)
	if err != nil {
		real = folder
	}
	return below(s.Paths.Cache, "kubectl-release", "indexed", strings.TrimPrefix(Digest([]byte(real)), "sha256:")+".json")
}
