package postrender

import (
	"cmp"
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// annotateSources returns a manifest for a post-renderer, which may drop comments: each object also has
// the template that it came from as manifest.SourceAnnotation, as in Helm 4.3.1 (pkg/action/action.go,
// annotateAndMerge). The comments, which Helm 3 passes, stay. A List becomes its items, as in Helm.
// Errors name the template.
func annotateSources(text string) (annotated string, err error) {
	defer recovered(&err)
	var docs []manifest.Document
	for _, doc := range manifest.Split(text) {
		source := manifest.SourceOf(doc)
		_, body, _ := strings.Cut(doc, "\n")
		objects, err := parseNodes(body)
		if err != nil {
			return "", fmt.Errorf("%s: %w", source, err)
		}
		for _, object := range objects {
			if err := object.PipeE(yaml.SetAnnotation(manifest.SourceAnnotation, source)); err != nil {
				return "", fmt.Errorf("%s: annotate an object: %w", source, err)
			}
			text, err := object.String()
			if err != nil {
				return "", fmt.Errorf("%s: %w", source, err)
			}
			docs = append(docs, manifest.Document{Path: source, Text: strings.TrimSuffix(text, "\n")})
		}
	}
	return manifest.Text(docs), nil
}

// restoreSources is the reverse, for what a post-renderer printed. An object that has neither the
// annotation nor the comment gets a name that says so (splitAndDeannotate). Errors are those of the
// YAML library, and for text with too many entries.
func restoreSources(text string) (restored string, err error) {
	defer recovered(&err)
	if manifest.Entries(text) > maxRewrittenEntries {
		return "", fmt.Errorf("more than %d entries", maxRewrittenEntries)
	}
	objects, err := parseNodes(text)
	if err != nil {
		return "", err
	}
	docs := make([]manifest.Document, len(objects))
	for i, object := range objects {
		annotation := object.GetAnnotations()[manifest.SourceAnnotation]
		if err := object.PipeE(yaml.ClearAnnotation(manifest.SourceAnnotation)); err != nil {
			return "", err
		}
		if err := yaml.ClearEmptyAnnotations(object); err != nil {
			return "", err
		}
		body, err := object.String()
		if err != nil {
			return "", err
		}
		comment := manifest.SourceOf(body)
		if comment != "" {
			_, body, _ = strings.Cut(body, "\n")
		}
		source := cmp.Or(annotation, comment, fmt.Sprintf("generated-by-postrender-%d.yaml", i))
		docs[i] = manifest.Document{Path: source, Text: body}
	}
	return manifest.Text(docs), nil
}

// recovered turns a panic of the YAML library, as at annotations that are a list, into an error.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("an object can't be read: %v", r)
	}
}

// parseNodes parses the documents of a YAML stream and keeps their comments and order of keys.
func parseNodes(text string) ([]*yaml.RNode, error) {
	objects, err := (&kio.ByteReader{Reader: strings.NewReader(text), OmitReaderAnnotations: true}).Read()
	for _, object := range objects {
		unfold(object.YNode())
	}
	return objects, err
}

// unfold turns folded texts (">") into literal ones ("|"): where lines of a folded text are indented, the
// YAML library writes an empty line too many. Helm 4.3.1 changes such texts.
func unfold(node *yaml.Node) {
	if node.Style&yaml.FoldedStyle != 0 {
		node.Style = node.Style&^yaml.FoldedStyle | yaml.LiteralStyle
	}
	for _, child := range node.Content {
		unfold(child)
	}
}
