package setrun

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/outputfile"
)

// maxFileBytes limits the size of a set in one file.
const maxFileBytes = 256 << 20

// File is one of the files of a saved set: a plan, set.json, its statement or signature.
type File struct {
	Name string
	Data []byte
}

// SaveFile writes the files of a set as a single tar archive with mode 0600, which "tar -xf"
// turns into the folder that SaveFolder would write. Errors: the archive is too large to be
// read back; those of the file system, which leave an existing file as it was.
func SaveFile(name string, files []File) error {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range files {
		err := w.WriteHeader(&tar.Header{Name: f.Name, Mode: 0o600, Size: int64(len(f.Data)), Format: tar.FormatPAX})
		if err == nil {
			_, err = w.Write(f.Data)
		}
		if err != nil {
			return fmt.Errorf("save the set: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("save the set: %w", err)
	}
	if out.Len() > maxFileBytes {
		return fmt.Errorf("save the set: its %d bytes are more than the %d MiB that can be read back: save it in a folder", out.Len(), maxFileBytes>>20)
	}
	if err := outputfile.Write(name, out.Bytes(), 0o600); err != nil {
		return fmt.Errorf("save the set: %w", err)
	}
	return nil
}

// Kept is where a saved set is stored: a folder, or one file.
type Kept struct {
	at string
	// files holds the files of the archive; nil for a folder.
	files map[string][]byte
}

// ErrNoSet is returned for a path that is not a saved set.
var ErrNoSet = errors.New("it is not a saved set: neither a folder nor a file of plan many")

// OpenKept opens a saved set. Errors: it can't be read; ErrNoSet; it is an archive that
// SaveFile did not make.
func OpenKept(at string) (*Kept, error) {
	about, err := os.Stat(at)
	if err != nil {
		return nil, fmt.Errorf("read the set: %w", err)
	}
	if about.IsDir() {
		return &Kept{at: at}, nil
	}
	if !about.Mode().IsRegular() { // a pipe can be read once, and may be a plan
		return nil, fmt.Errorf("%s: %w", at, ErrNoSet)
	}
	data, err := inputfile.Read(at, maxFileBytes)
	if err != nil {
		return nil, fmt.Errorf("read the set: %w", err)
	}
	k := &Kept{at: at, files: map[string][]byte{}}
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) && len(k.files) > 0 {
			return k, nil
		}
		if err != nil && len(k.files) == 0 {
			return nil, fmt.Errorf("%s: %w", at, ErrNoSet)
		}
		if err == nil && (h.Typeflag != tar.TypeReg || h.Name != filepath.Base(h.Name) || k.files[h.Name] != nil) {
			err = fmt.Errorf("it contains %s, which is not part of a saved set", h.Name)
		}
		if err == nil {
			k.files[h.Name], err = io.ReadAll(r)
		}
		if err != nil {
			return nil, fmt.Errorf("read the set in %s: %w", at, err)
		}
	}
}

// Path returns the path of a file of the set, for messages.
func (k *Kept) Path(name string) string { return filepath.Join(k.at, name) }

// Read returns the content of a file of the set. Errors name the file.
func (k *Kept) Read(name string) ([]byte, error) {
	most := int64(maxPlanBytes)
	if name == IndexName {
		most = maxSetBytes
	}
	if k.files == nil {
		return inputfile.ReadInside(k.Path(name), most)
	}
	data, ok := k.files[name]
	if !ok {
		return nil, fmt.Errorf("%s has no %s", k.at, name)
	}
	return inputfile.ReadAll(bytes.NewReader(data), k.Path(name), most)
}

func (k *Kept) names() ([]string, error) {
	if k.files != nil {
		return slices.Sorted(maps.Keys(k.files)), nil
	}
	files, err := os.ReadDir(k.at)
	if err != nil {
		return nil, fmt.Errorf("read the set: %w", err)
	}
	var out []string
	for _, f := range files {
		out = append(out, f.Name())
	}
	return out, nil
}
