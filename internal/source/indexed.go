package source

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/outputfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// Indexed remembers the archives of a folder of which an index was made, by their names: one
// that has the size and the time of its last change is not read again.
type Indexed map[string]indexed

// indexed is an archive as it was read.
type indexed struct {
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	resolve.Packaged
}

// quietFor is how long after its last change an archive may still be written to with the same
// time, since file systems count in steps of up to two seconds.
const quietFor = 2 * time.Second

// Get gives what was read of an archive that is as it was.
func (x Indexed) Get(name string, info fs.FileInfo) (resolve.Packaged, bool) {
	known, ok := x[name]
	return known.Packaged, ok && known.Metadata != nil && known.Size == info.Size() && known.Modified.Equal(info.ModTime())
}

// Keep remembers what was read of an archive by now, unless it has only just changed.
func (x Indexed) Keep(info fs.FileInfo, read resolve.Packaged, now time.Time) {
	if now.Sub(info.ModTime()) > quietFor {
		x[read.Path] = indexed{Size: info.Size(), Modified: info.ModTime(), Packaged: read}
	}
}

// Indexed is what is remembered of a folder; what can't be read is nothing.
func (s *Sources) Indexed(folder string) Indexed {
	out := Indexed{}
	data, err := inputfile.Read(s.indexedFile(folder), resolve.MaxIndexBytes)
	if err != nil || json.Unmarshal(data, &out) != nil {
		return Indexed{}
	}
	return out
}

// KeepIndexed remembers it for the next time.
func (s *Sources) KeepIndexed(folder string, x Indexed) error {
	file := s.indexedFile(folder)
	data, err := json.Marshal(x)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err != nil {
		return err
	}
	return outputfile.Write(file, data, 0o644)
}

func (s *Sources) indexedFile(folder string) string {
	real, err := filepath.Abs(folder)
	if err != nil {
		real = folder
	}
	return filepath.Join(s.Paths.Cache, "kubectl-release", "indexed", strings.TrimPrefix(Digest([]byte(real)), "sha256:")+".json")
}
