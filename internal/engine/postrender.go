package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// postRender passes the whole manifest, including hooks as in Helm 4.3.1 (pkg/action/action.go,
// renderResources), to the post-renderer and parses the result.
func postRender(ctx context.Context, rewrite func(context.Context, string) (string, error), r *Rendering) error {
	if rewrite == nil {
		return nil
	}
	docs := r.Classified.Documents
	for _, h := range r.Classified.Hooks {
		docs = append(docs[:len(docs):len(docs)], manifest.Document{Path: h.Path, Text: h.Manifest})
	}
	text, err := rewrite(ctx, manifest.Text(docs))
	if err != nil {
		return fmt.Errorf("post-render %s: %w", r.Chart.Name(), err)
	}
	again, err := manifest.Classify(postRendered(text))
	if err != nil {
		return err
	}
	again.Dropped = r.Classified.Dropped
	again.Duplicates = append(r.Classified.Duplicates, again.Duplicates...)
	r.Classified = again
	return nil
}

// postRendered assigns documents to the files that they came from.
func postRendered(text string) []manifest.File {
	var files []manifest.File
	index := map[string]int{}
	for _, doc := range manifest.Split(text) {
		path := manifest.SourceOf(doc)
		_, doc, _ = strings.Cut(doc, "\n")
		i, known := index[path]
		if !known {
			i = len(files)
			index[path] = i
			files = append(files, manifest.File{Path: path})
		}
		if content := files[i].Content; content != "" && !strings.HasSuffix(content, "\n") {
			files[i].Content += "\n"
		}
		// manifest.Text has added this newline to the document.
		files[i].Content += "---\n" + strings.TrimSuffix(doc, "\n")
	}
	return files
}
