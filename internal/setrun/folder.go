package setrun

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/planfile"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/plan"
)

const (
	// IndexName is the name of the file that says which plans belong to a saved set.
	IndexName = "set.json"
	// planEnding is the extension of plan files.
	planEnding = ".plan"
	// maxSetBytes limits the size of a set.json, maxPlanBytes that of an encrypted plan.
	maxSetBytes  = 16 << 20
	maxPlanBytes = 80 << 20
)

// Index is a set.json: which plans belong to the set, and in which order.
type Index struct {
	FormatVersion string                        `json:"formatVersion"`
	ToolVersion   string                        `json:"toolVersion"`
	Files         []string                      `json:"files"`
	Environment   string                        `json:"environment,omitempty"`
	Selectors     []string                      `json:"selectors,omitempty"`
	Head          string                        `json:"head,omitempty"`
	Base          string                        `json:"base,omitempty"`
	Origin        *plan.Origin                  `json:"origin,omitempty"`
	Clusters      map[string]releaseset.Cluster `json:"clusters,omitempty"`
	Plans         []IndexPlan                   `json:"plans"`
}

// IndexPlan is one plan of a set.
type IndexPlan struct {
	Key releaseset.Key `json:"key"`
	// File is a name in the set's folder. Digest is the plan digest (planfile.Encode),
	// which does not depend on encryption.
	File         string         `json:"file"`
	Digest       string         `json:"digest"`
	EffectDigest string         `json:"effectDigest"`
	Operation    plan.Operation `json:"operation"`
	// Needs are other plans of the set, see Planned.order.
	Needs []releaseset.Key `json:"needs,omitempty"`
	// Deferred says why the plan is an estimate until what it needs exists.
	Deferred string `json:"deferred,omitempty"`
}

// Encode returns the files of a set: the plans that do something, and set.json. It enters file
// names and digests in made. Errors: a plan has values that are not known; those of the seal.
func Encode(made *Planned, clusters map[string]releaseset.Cluster, seal planfile.Seal) ([]File, error) {
	var out []File
	index := Index{
		FormatVersion: releaseset.FormatVersion, ToolVersion: made.ToolVersion, Files: made.Files, Environment: made.Environment, Selectors: made.Selectors,
		Head: made.Head, Base: made.Base, Origin: made.Origin, Clusters: clusters, Plans: []IndexPlan{},
	}
	for i := range made.Releases {
		r := &made.Releases[i]
		if r.Plan == nil || r.Plan.Effect() == plan.EffectNone {
			continue
		}
		if unknown := made.Unknown[r.Key]; len(unknown) > 0 {
			return nil, fmt.Errorf("the plan of %s can't be saved: what it would write is not known without %s; leave it out with --selector, or plan it with permission to read them", r.Key, strings.Join(unknown, ", "))
		}
		r.File = planFile(r.Key)
		stamped, encoded, err := planfile.Encode(made.Plans[r.Key], plan.Stamp{EffectDigest: made.Plans[r.Key].EffectDigest, Origin: made.Origin})
		if err != nil {
			return nil, err
		}
		r.Digest = stamped.PlanDigest
		if encoded, err = planfile.Sealed(encoded, seal); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Key, err)
		}
		out = append(out, File{r.File, encoded})
		index.Plans = append(index.Plans, IndexPlan{r.Key, r.File, r.Digest, r.Plan.EffectDigest, r.Plan.Operation, nil, r.Deferred})
	}
	made.order(index.Plans)
	slices.SortFunc(index.Plans, func(a, b IndexPlan) int { return strings.Compare(a.File, b.File) })
	data, err := json.MarshalIndent(index, "", "  ")
	if err != nil {
		return nil, err
	}
	data = append(data, '\n')
	made.Digest = plan.Digest(data)
	return append(out, File{IndexName, data}), nil
}

// order enters what each plan of a set needs: other plans of the set. Where an entry in between has no
// plan, or one that does the opposite (an uninstall or not), what that one needs is needed, too.
func (p *Planned) order(plans []IndexPlan) {
	uninstalls, left := map[releaseset.Key]bool{}, map[releaseset.Key]bool{}
	for _, saved := range plans {
		uninstalls[saved.Key] = saved.Operation == plan.Uninstall
	}
	for _, r := range p.Releases {
		left[r.Key] = r.Left
	}
	for i := range plans {
		saved, needs := &plans[i], p.needs
		if left[saved.Key] {
			needs = p.before
		}
		releaseset.EachNeed(needs, saved.Key, func(need releaseset.Key) bool {
			uninstall, planned := uninstalls[need]
			if planned {
				saved.Needs = append(saved.Needs, need)
			}
			return !planned || uninstall != uninstalls[saved.Key]
		})
	}
}

// planFile returns the name of the file for an entry's plan, which no other entry's plan has:
// "shop_web.plan", after its cluster where it names one. Namespaces and names contain no "_".
// What file systems do not allow is escaped as in URLs, and so is the ":" of EKS's clusters.
func planFile(k releaseset.Key) string {
	parts := []string{k.Namespace, k.Name}
	if k.Cluster != "" {
		parts = slices.Insert(parts, 0, k.Cluster)
	}
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(url.PathEscape(part), ":", "%3A")
	}
	return strings.Join(parts, "_") + planEnding
}

// Saved is a set that was read from its folder.
type Saved struct {
	Index
	Digest string
	Plans  map[releaseset.Key]*plan.Plan
}

// OpenSaved reads a set, decrypting plans with keys. Errors: the set is not as it was saved,
// because a plan is missing, added or replaced; its format is of another major version.
func OpenSaved(from *Kept, keys planfile.Keys) (*Saved, error) {
	data, err := from.Read(IndexName)
	if err != nil {
		return nil, fmt.Errorf("read the set: %w", err)
	}
	s := &Saved{Digest: plan.Digest(data), Plans: map[releaseset.Key]*plan.Plan{}}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s.Index); err != nil {
		return nil, fmt.Errorf("read %s: %w", from.Path(IndexName), err)
	}
	if s.FormatVersion == "" { // makeRoom's
		return nil, fmt.Errorf("the set in %s was not saved to its end: plan it again", from.at)
	}
	ours, _, _ := strings.Cut(releaseset.FormatVersion, ".")
	if major, _, _ := strings.Cut(s.FormatVersion, "."); major != ours {
		return nil, fmt.Errorf("the set in %s has format %s and this version reads %s.x: plan it again", from.at, s.FormatVersion, ours)
	}
	return s, errors.Join(s.read(from, keys), s.strangers(from))
}

func (s *Saved) read(from *Kept, keys planfile.Keys) error {
	for _, p := range s.Index.Plans {
		if p.File != filepath.Base(p.File) {
			return fmt.Errorf("the set names %s, which is not in its folder", p.File)
		}
		at := from.Path(p.File)
		data, err := from.Read(p.File)
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

// strangers returns an error if there are plans that do not belong to the set.
func (s *Saved) strangers(from *Kept) error {
	names, err := from.names()
	if err != nil {
		return err
	}
	for _, name := range names {
		known := slices.ContainsFunc(s.Index.Plans, func(p IndexPlan) bool { return p.File == name })
		if !known && strings.HasSuffix(name, planEnding) {
			return fmt.Errorf("%s is not in the set: plan it again", from.Path(name))
		}
	}
	return nil
}

// Document returns the set as it is shown; show converts each plan.
func (s *Saved) Document(show func(*plan.Plan) *plan.Document) *releaseset.Document {
	d := &releaseset.Document{
		FormatVersion: s.FormatVersion, ToolVersion: s.ToolVersion, Files: s.Files, Environment: s.Environment, Selectors: s.Selectors,
		Head: s.Head, Base: s.Base, Origin: s.Origin, Compared: s.Base != "", Digest: s.Digest, Releases: []releaseset.Planned{},
	}
	for _, p := range s.Index.Plans {
		d.Releases = append(d.Releases, releaseset.Planned{
			Key: p.Key, Release: p.Key.Release(), Cluster: p.Key.Cluster, Needs: p.Needs, Touched: true,
			Plan: show(s.Plans[p.Key]), File: p.File, Digest: p.Digest, Deferred: p.Deferred,
		})
	}
	d.Finish()
	return d
}
