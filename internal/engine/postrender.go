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
		return quotingObjects(docs, fmt.Errorf("post-render %s: %w", r.Chart.Name(), err))
	}
	again, err := manifest.Classify(postRendered(text))
	if err != nil {
		return quotingObjects(docs, err)
	}
	again.Dropped = r.Classified.Dropped
	again.Duplicates = append(r.Classified.Duplicates, again.Duplicates...)
	r.Classified = again
	return nil
}

// quotingObjects returns an error that may quote the objects of documents. If one of them can't be read, what is
// secret in it is not known, and the error says that instead.
func quotingObjects(docs []manifest.Document, err error) error {
	out := &RenderError{Err: err}
	for _, d := range docs {
		objects, unread := manifest.ParseDocument(d.Text, d.Path)
		if unread != nil {
			return fmt.Errorf("the post-renderer's error is not shown, because it may quote what can't be read: %w", unread)
		}
		for _, o := range objects {
			out.Values = append(out.Values, o.Doc.Object)
			if o.IsSecret() {
				out.Secrets = append(out.Secrets, secretValues(o.Doc.Object)...)
			}
		}
	}
	return out
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
