package manifest

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// Classified is what a chart's rendered files amount to.
type Classified struct {
	// Documents are the objects of the release in install order.
	Documents []Document
	// Hooks are in install order of their kinds.
	Hooks []Hook
	// Dropped are documents with an unknown hook event, which Helm ignores.
	Dropped []Document
	// Duplicates are keys given twice, in the order of files and lines.
	Duplicates []Duplicate
}

// Classify splits rendered files into hooks and objects and puts both in install order:
// files by path, documents as they appear, then a stable sort by kind
// (https://github.com/helm/helm/blob/v4.3.1/pkg/release/v1/util/manifest_sorter.go,
// SortManifests). Partials ("_name") and empty files are skipped. Errors name the file
// whose YAML can't be read or has too many entries.
func Classify(files []File) (Classified, error) {
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })

	var out Classified
	entries := 0
	for _, f := range files {
		if strings.HasPrefix(path.Base(f.Path), "_") || strings.TrimSpace(f.Content) == "" {
			continue
		}
		if entries += Entries(f.Content); entries > maxEntries {
			return Classified{}, fmt.Errorf("parse YAML that %s rendered: the chart renders more than %d entries in all", f.Path, maxEntries)
		}
		for text, before := range documents(f.Content) {
			if Entries(text) > maxDocumentEntries {
				return Classified{}, fmt.Errorf("parse YAML that %s rendered%s: a document has more than %d entries", f.Path, from(before), maxDocumentEntries)
			}
			head, duplicates, err := newHead(text)
			if err != nil {
				return Classified{}, fmt.Errorf("parse YAML that %s rendered%s: %w", f.Path, from(before), inWords(err))
			}
			out.Duplicates = append(out.Duplicates, place(duplicates, f, before)...)
			out.add(Document{Path: f.Path, Text: text, Head: head})
		}
	}
	sort.SliceStable(out.Documents, func(i, j int) bool {
		return kinds.InstallLess(out.Documents[i].Head.Kind, out.Documents[j].Head.Kind)
	})
	sort.SliceStable(out.Hooks, func(i, j int) bool {
		return kinds.InstallLess(out.Hooks[i].Kind, out.Hooks[j].Kind)
	})
	return out, nil
}

func (c *Classified) add(d Document) {
	events, isHook := d.Head.annotation(HookAnnotation)
	if !isHook {
		c.Documents = append(c.Documents, d)
		return
	}
	if h, ok := newHook(d, events); ok {
		c.Hooks = append(c.Hooks, h)
		return
	}
	c.Dropped = append(c.Dropped, d)
}
