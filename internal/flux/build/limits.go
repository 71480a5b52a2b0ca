package build

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// Limits of a build. kustomize has none: it reads a base as often as overlays name it, compares each object with each,
// and writes out aliases.
const (
	// maxDocuments limits the YAML documents that are read, each as often as it is.
	maxDocuments = 5_000
	// maxBytes limits their size, with texts that aliases stand for.
	maxBytes = 64 << 20
	// maxAliased limits the entries of lists and tables that all aliases stand for.
	maxAliased = 10_000
	// maxTexts limits how deep YAML in texts of YAML is looked at: a transformer can be a text, with a patch in it.
	maxTexts = 2
)

// spent is what a build has read. over is set once that is too much.
type spent struct {
	documents, bytes, aliased int
	over                      error
}

// file counts a file, and returns an error from the first on that is too much.
func (s *spent) file(name string, data []byte) error {
	s.documents, s.bytes = s.documents+1+bytes.Count(data, []byte("\n---")), s.bytes+len(data)
	kustomization := slices.Contains(konfig.RecognizedKustomizationFileNames(), path.Base(name))
	s.aliases(string(data), 0, kustomization)
	if !kustomization {
		for line := range strings.Lines(string(data)) { // it may be one of envs
			s.assigned(line)
		}
	}
	if err := s.check(); err != nil && s.over == nil {
		s.over = fmt.Errorf("%s: %w", name, err)
	}
	return s.over
}

func (s *spent) check() error {
	switch {
	case s.documents > maxDocuments || s.bytes > maxBytes:
		return fmt.Errorf("more than %d YAML documents or %d MiB are read, counting each file as often as it is", maxDocuments, maxBytes>>20)
	case s.aliased > maxAliased:
		return fmt.Errorf("YAML aliases stand for more than %d entries", maxAliased)
	}
	return nil
}

// limited returns an error if aliases in what a chart renders, or in patches of that, stand for too much.
func limited(docs []string, renderers []flux.PostRenderer) error {
	var s spent
	for _, doc := range docs {
		s.aliases(doc, maxTexts, false)
	}
	for _, r := range renderers {
		if r.Kustomize == nil {
			continue
		}
		for _, p := range r.Kustomize.Patches {
			s.aliases(p.Patch, maxTexts, false)
		}
	}
	return s.check()
}

// aliases counts what the aliases in a YAML text stand for, as kustomize parses it: what it can't parse has none. parsed
// reports whether kustomize parses texts in it, too, as it does in kustomizations and configurations of its plugins.
func (s *spent) aliases(text string, depth int, parsed bool) {
	if !strings.Contains(text, `\`) && (!strings.Contains(text, "&") || !strings.Contains(text, "*")) {
		return // texts in quotes may have these as escapes
	}
	nodes, err := (&kio.ByteReader{Reader: strings.NewReader(text), OmitReaderAnnotations: true}).Read()
	if err != nil {
		s.json(text)
		return
	}
	for _, n := range nodes {
		parsed := parsed || configures(n.YNode())
		s.node(n.YNode(), false, func(text string) {
			if parsed && depth < maxTexts {
				s.aliases(text, depth+1, false)
				s.assigned(text)
			} else {
				s.json(text)
			}
		})
	}
}

// json counts what the aliases stand for in a text that begins as JSON: where a replacement changes a part of such a
// text, kustomize parses its first document, and writes it out. Other YAML keeps its aliases there.
func (s *spent) json(text string) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") ||
		!strings.Contains(text, "&") || !strings.Contains(text, "*") || json.Valid([]byte(text)) { // JSON has no aliases
		return
	}
	if n, err := yaml.Parse(text); err == nil {
		s.node(n.YNode(), false, func(string) {})
	}
}

// assigned is like json, for the value in KEY=VALUE, a literal of a generator or a line of envs.
func (s *spent) assigned(text string) {
	if _, value, ok := strings.Cut(text, "="); ok {
		s.json(strings.Trim(value, `"'`))
	}
}

// configures reports whether kustomize could take an object for the configuration of its plugins, or a list of some.
func configures(n *yaml.Node) bool {
	return n.Value == konfig.BuiltinPluginApiVersion || slices.ContainsFunc(n.Content, configures)
}

// node counts a node. in is called with each text in it.
func (s *spent) node(n *yaml.Node, aliased bool, in func(text string)) {
	if aliased {
		s.aliased, s.bytes = s.aliased+1, s.bytes+len(n.Value)
	}
	if s.check() != nil {
		return
	}
	if n.Kind == yaml.AliasNode {
		s.node(n.Alias, true, in)
	}
	if n.Kind == yaml.ScalarNode {
		in(n.Value)
	}
	for _, below := range n.Content {
		s.node(below, aliased, in)
	}
}
