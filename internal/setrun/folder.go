package setrun

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/outputfile"
	"github.com/kubectl-release/kubectl-release/internal/planfile"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/plan"
)

const (
	// IndexName is the file of a folder that says which plans belong to the set.
	IndexName = "set.json"
	// planEnding is that of the names of the plans.
	planEnding = ".plan"
	// maxSetBytes is the size of a set.json, maxPlanBytes that of an encrypted plan.
	maxSetBytes  = 16 << 20
	maxPlanBytes = 80 << 20
)

// Index is a set.json: which plans belong to the set, and in which order.
type Index struct {
	FormatVersion string                        `json:"formatVersion"`
	ToolVersion   string                        `json:"toolVersion"`
	Files         []string                      `json:"files"`
	Head          string                        `json:"head,omitempty"`
	Base          string                        `json:"base,omitempty"`
	Clusters      map[string]releaseset.Cluster `json:"clusters,omitempty"`
	Plans         []IndexPlan                   `json:"plans"`
}

// IndexPlan is one plan of a set.
type IndexPlan struct {
	Key releaseset.Key `json:"key"`
	// File is a name in the set's folder, Digest that of the plan (planfile.Encode): it
	// is the same however the file is encrypted.
	File         string           `json:"file"`
	Digest       string           `json:"digest"`
	EffectDigest string           `json:"effectDigest"`
	Operation    plan.Operation   `json:"operation"`
	Needs        []releaseset.Key `json:"needs,omitempty"`
	// Deferred says why the plan is an estimate until what it needs is there.
	Deferred string `json:"deferred,omitempty"`
}

// Save writes the plans that do something into a folder, and set.json last: a folder
// without it is no set. What an earlier set has left there goes. It tells the document
// the files and digests. Errors: the folder holds something else.
func Save(dir string, made *Planned, clusters map[string]releaseset.Cluster, seal planfile.Seal) error {
	if err := makeRoom(dir); err != nil {
		return fmt.Errorf("save the set in %s: %w", dir, err)
	}
	index := Index{
		FormatVersion: releaseset.FormatVersion, ToolVersion: made.ToolVersion, Files: made.Files,
		Head: made.Head, Base: made.Base, Clusters: clusters, Plans: []IndexPlan{},
	}
	for i := range made.Releases {
		r := &made.Releases[i]
		if r.Plan == nil || r.Plan.Effect() == plan.EffectNone {
			continue
		}
		if unknown := made.Unknown[r.Key]; len(unknown) > 0 {
			return fmt.Errorf("the plan of %s can't be saved: what it would write is not known without %s; leave it out with --selector, or plan it with the right to read them", r.Key, strings.Join(unknown, ", "))
		}
		r.File = strings.ReplaceAll(r.Key.String(), "/", "_") + planEnding
		at := filepath.Join(dir, r.File)
		encoded, digest, err := planfile.Encode(made.Plans[r.Key])
		if err != nil {
			return err
		}
		r.Digest = digest
		if err := planfile.Write(at, encoded, seal); err != nil {
			return err
		}
		index.Plans = append(index.Plans, IndexPlan{r.Key, r.File, r.Digest, r.Plan.EffectDigest, r.Plan.Operation, r.Needs, r.Deferred})
	}
	slices.SortFunc(index.Plans, func(a, b IndexPlan) int { return strings.Compare(a.File, b.File) })
	data, err := json.MarshalIndent(index, "", "  ")
	if err != nil {
		return err
	}
	data = append(data, '\n')
	made.Digest = checksum(data)
	return outputfile.Write(filepath.Join(dir, IndexName), data, 0o600)
}

// makeRoom makes the folder, or empties one that holds a set.
func makeRoom(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), IndexName) && !strings.HasSuffix(f.Name(), planEnding) {
			return fmt.Errorf("it holds %s, which is no part of a set: name an empty folder", f.Name())
		}
	}
	slices.SortFunc(files, func(a, b fs.DirEntry) int { return strings.Compare(b.Name(), a.Name()) }) // set.json first
	for _, f := range files {
		if err := os.Remove(filepath.Join(dir, f.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Saved is a set that was read from its folder.
type Saved struct {
	Index
	Digest string
	Plans  map[releaseset.Key]*plan.Plan
}

// OpenSaved reads a set, and refuses one that is not as it was saved: a plan is missing, is
// there too many or is another one. Plans are opened with keys.
func OpenSaved(dir string, keys planfile.Keys) (*Saved, error) {
	data, err := inputfile.Read(filepath.Join(dir, IndexName), maxSetBytes)
	if err != nil {
		return nil, fmt.Errorf("read the set: %w", err)
	}
	s := &Saved{Digest: checksum(data), Plans: map[releaseset.Key]*plan.Plan{}}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s.Index); err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Join(dir, IndexName), err)
	}
	ours, _, _ := strings.Cut(releaseset.FormatVersion, ".")
	if major, _, _ := strings.Cut(s.FormatVersion, "."); major != ours {
		return nil, fmt.Errorf("the set in %s has format %s and this version reads %s.x: plan it again", dir, s.FormatVersion, ours)
	}
	return s, errors.Join(s.read(dir, keys), s.strangers(dir))
}

func (s *Saved) read(dir string, keys planfile.Keys) error {
	for _, p := range s.Index.Plans {
		if p.File != filepath.Base(p.File) {
			return fmt.Errorf("the set names %s, which is not in its folder", p.File)
		}
		at := filepath.Join(dir, p.File)
		data, err := inputfile.ReadInside(at, maxPlanBytes)
		if err != nil {
			return fmt.Errorf("a plan of the set can't be read: %w", err)
		}
		made, err := planfile.Parse(at, data, keys)
		if err != nil {
			return err
		}
		if made.PlanDigest != p.Digest {
			return fmt.Errorf("%s is not the plan that belongs to the set: its digest is %s, and set.json says %s", at, made.PlanDigest, p.Digest)
		}
		if made.Release != p.Key.Release() {
			return fmt.Errorf("%s is for %s, and set.json says %s", at, made.Release, p.Key)
		}
		if err := made.Applicable(); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		s.Plans[p.Key] = made
	}
	return nil
}

// strangers are plans in the folder that do not belong to the set.
func (s *Saved) strangers(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		known := slices.ContainsFunc(s.Index.Plans, func(p IndexPlan) bool { return p.File == f.Name() })
		if !known && strings.HasSuffix(f.Name(), planEnding) {
			return fmt.Errorf("%s is not in the set: plan it again", filepath.Join(dir, f.Name()))
		}
	}
	return nil
}
