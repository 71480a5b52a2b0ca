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

// SaveFolder writes the files of a set into a folder, the plans before set.json: until then the folder is
// not a set, but one can be saved in it again. Files of an earlier set are removed. Errors: the folder
// holds something else; those of the file system.
func SaveFolder(dir string, files []File) error {
	if err := makeRoom(dir, files); err != nil {
		return fmt.Errorf("save the set in %s: %w", dir, err)
	}
	for _, f := range files {
		if err := outputfile.Write(filepath.Join(dir, f.Name), f.Data, 0o600); err != nil {
			return fmt.Errorf("save the set: %w", err)
		}
	}
	return nil
}

// makeRoom makes the folder, or removes the set that it holds, or what is left of one that was not saved to
// its end: what is named after set.json, such as its signature, and the plans that it names. Its set.json
// becomes that of an unfinished set, which names what may be removed the next time.
func makeRoom(dir string, files []File) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	earlier, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	plans, isSet, err := plansIn(&Kept{at: dir})
	if err != nil {
		return err
	}
	var unfinished contents
	for _, f := range earlier {
		name := f.Name()
		ours := name == IndexName || strings.HasPrefix(name, IndexName+".") || slices.Contains(plans, name)
		if (!isSet || !ours) && !strings.HasPrefix(name, outputfile.Prefix) {
			return fmt.Errorf("it contains %s, which is not part of a saved set: name an empty folder", name)
		}
		unfinished.Plans = append(unfinished.Plans, content{name})
	}
	for _, f := range files {
		unfinished.Plans = append(unfinished.Plans, content{f.Name})
	}
	data, err := json.Marshal(unfinished)
	if err == nil {
		err = outputfile.Write(filepath.Join(dir, IndexName), data, 0o600)
	}
	if err != nil {
		return err
	}
	for _, f := range earlier {
		if f.Name() == IndexName {
			continue
		}
		if err := os.Remove(filepath.Join(dir, f.Name())); err != nil {
			return err
		}
	}
	return nil
}

// contents is the part of set.json that says what belongs to a set, of whatever version.
type contents struct {
	Plans []content `json:"plans"`
}

type content struct {
	File string `json:"file"`
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
	var index contents
	if err := json.Unmarshal(data, &index); err != nil {
		return nil, false, fmt.Errorf("its %s is not that of a saved set: %w", IndexName, err)
	}
	for _, p := range index.Plans {
		plans = append(plans, p.File)
	}
	return plans, true, nil
}
