package resolve

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// Packaged is an archive to be added to an index.
type Packaged struct {
	Metadata *chart.Metadata
	// Path is its path below the folder of the index, with slashes.
	Path string
	// Digest is its SHA-256, "sha256:" and hex.
	Digest string
}

// published is a version of a chart as Helm 4.3.1 writes it.
type published struct {
	chart.Metadata
	URLs    []string `json:"urls"`
	Created string   `json:"created,omitempty"`
	Digest  string   `json:"digest,omitempty"`
}

// Publication is an index being built.
type Publication struct {
	entries map[string][]any
	// versions holds the versions of the entries, in the same order.
	versions map[string][]string
}

// Publish returns an index of archives below url, or with relative URLs if url is "". An archive
// listed with the same digest in before, which may be nil, keeps its creation time; others get now.
// The warnings are about charts in before whose entries can't be decoded: nothing is known of them.
func Publish(archives []Packaged, url string, before *Index, now time.Time) (*Publication, []chart.Warning) {
	p := &Publication{entries: map[string][]any{}, versions: map[string][]string{}}
	var warnings []chart.Warning
	known := map[string]map[indexed]string{}
	for _, a := range archives {
		name, version := a.Metadata.Name, a.Metadata.Version
		if _, read := known[name]; !read && before != nil {
			var err error
			if known[name], err = before.created(name); err != nil {
				warnings = append(warnings, chart.Warning{Where: "index.yaml/" + name, What: fmt.Sprintf("its entries are made anew: %v", err)})
			}
		}
		at := a.Path
		if url != "" {
			at = strings.TrimRight(url, "/") + "/" + a.Path
		}
		p.add(name, version, published{
			Metadata: *a.Metadata, URLs: []string{at}, Digest: strings.TrimPrefix(a.Digest, "sha256:"),
			Created: cmp.Or(known[name][indexed{version, a.Digest}], now.Format(time.RFC3339Nano)),
		})
	}
	return p, warnings
}

// indexed is a version of a chart and the digest of its archive.
type indexed struct{ version, digest string }

// created returns when the versions of a chart were created, as far as the index says so.
func (x *Index) created(name string) (map[indexed]string, error) {
	entries, _, err := x.Versions(name)
	out := map[indexed]string{}
	for _, e := range entries {
		if digest, err := Digest(e.Digest); err == nil {
			out[indexed{e.Version, digest}] = e.Created
		}
	}
	return out, err
}

func (p *Publication) add(name, version string, entry any) {
	p.entries[name] = append(p.entries[name], entry)
	p.versions[name] = append(p.versions[name], version)
}

// Merge adds the versions of another index that p does not have, each entry unchanged with all its
// keys. For a version in both, p's entry stays.
func (p *Publication) Merge(other *Index) error {
	for _, name := range other.Names {
		text := other.charts[name]
		if len(text) == 0 {
			continue
		}
		list, err := decodeVersions(text)
		if err != nil {
			return fmt.Errorf("chart %s: %w", name, err)
		}
		have := map[string]bool{}
		for _, version := range p.versions[name] {
			have[version] = true
		}
		for _, raw := range list {
			var entry map[string]any
			if err := json.Unmarshal(raw, &entry); err != nil || entry == nil {
				continue // an invalid entry
			}
			version, _ := entry["version"].(string)
			if version != "" && !have[version] {
				p.add(name, version, entry)
			}
		}
	}
	return nil
}

// Prune keeps at most the given number of versions of each chart, the newest, and returns how many
// it removed.
func (p *Publication) Prune(most int) (left int) {
	for name, versions := range p.versions {
		newest := Descending(versions)[:min(most, len(versions))]
		entries, kept := make([]any, 0, len(newest)), make([]string, 0, len(newest))
		for _, i := range newest {
			entries, kept = append(entries, p.entries[name][i]), append(kept, versions[i])
		}
		left += len(versions) - len(kept)
		p.entries[name], p.versions[name] = entries, kept
	}
	return left
}

// Bytes returns the index as YAML, as Helm writes it, or as JSON, with the versions of each chart
// in descending order. If it has the same entries as before, which may be nil, it keeps the time at
// which that was generated. It may be called only once, after everything else.
func (p *Publication) Bytes(asJSON bool, before *Index, now time.Time) ([]byte, error) {
	for name, versions := range p.versions {
		sorted := make([]any, 0, len(versions))
		for _, i := range Descending(versions) {
			sorted = append(sorted, p.entries[name][i])
		}
		p.entries[name], p.versions[name] = sorted, nil
	}
	generated := now.Format(time.RFC3339Nano)
	if before != nil && before.Generated != "" && p.says(before) {
		generated = before.Generated
	}
	index := map[string]any{"apiVersion": "v1", "entries": p.entries, "generated": generated}
	if asJSON {
		return json.Marshal(index)
	}
	return yaml.Marshal(index)
}

// says reports whether an index has exactly the entries of p.
func (p *Publication) says(before *Index) bool {
	if len(before.Names) != len(p.entries) {
		return false
	}
	for _, name := range before.Names {
		list, err := decodeVersions(append([]byte{}, before.charts[name]...))
		if err != nil || len(list) != len(p.entries[name]) {
			return false
		}
		for i, raw := range list {
			if !sameEntry(raw, p.entries[name][i]) {
				return false
			}
		}
	}
	return true
}

// sameEntry compares an entry of a file with a new one, ignoring the order of their keys.
func sameEntry(raw json.RawMessage, entry any) bool {
	made, err := json.Marshal(entry)
	if err != nil {
		return false
	}
	var a, b any
	if json.Unmarshal(raw, &a) != nil || json.Unmarshal(made, &b) != nil {
		return false
	}
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
