package setrun

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/outputfile"
)

// SaveFolder writes the files of a set into a folder, the plans before set.json: a folder
// without that is not a set. Files of an earlier set are removed. Errors: the folder holds
// something else; those of the file system.
func SaveFolder(dir string, files []File) error {
	if err := makeRoom(dir); err != nil {
		return fmt.Errorf("save the set in %s: %w", dir, err)
	}
	for _, f := range files {
		if err := outputfile.Write(filepath.Join(dir, f.Name), f.Data, 0o600); err != nil {
			return fmt.Errorf("save the set: %w", err)
		}
	}
	return nil
}

// makeRoom makes the folder, or removes the set that it holds: set.json, what is named after that, such
// as its signature, and the plans that it names.
func makeRoom(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) == 0 {
		return err
	}
	plans, isSet, err := plansIn(&Kept{at: dir})
	if err != nil {
		return err
	}
	for _, f := range files {
		name := f.Name()
		if !isSet || name != IndexName && !strings.HasPrefix(name, IndexName+".") && !slices.Contains(plans, name) {
			return fmt.Errorf("it contains %s, which is not part of a saved set: name an empty folder", name)
		}
	}
	for _, f := range files {
		if f.Name() == IndexName {
			continue
		}
		if err := os.Remove(filepath.Join(dir, f.Name())); err != nil {
			return err
		}
	}
	return os.Remove(filepath.Join(dir, IndexName)) // last: until then it says what may be removed
}

// plansIn returns the names of the plans of the set in a folder, and reports whether there is one, of
// whatever version.
func plansIn(folder *Kept) (plans []string, isSet bool, err error) {
	data, err := folder.Read(IndexName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	var index struct {
		Plans []struct{ File string }
	}
	if err := json.Unmarshal(data, &index); err != nil {
		return nil, false, fmt.Errorf("its %s is not that of a saved set: %w", IndexName, err)
	}
	for _, p := range index.Plans {
		plans = append(plans, p.File)
	}
	return plans, true, nil
}
