package engine

import (
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// mask leaves a revision's description, without the secrets that it may quote.
func mask(r *release.Revision) {
	r.Info.Description = redact.NewRecordMask(r).Text(r.Info.Description)
	r.Manifest, r.Config, r.Hooks = "", nil, nil
}

// thinner removes from failed attempts the objects that newer revisions have as well, with every field, their
// values and their hooks. What may be in the cluster is known without them.
type thinner struct {
	// newer are the objects of newer revisions, last those of the one before.
	newer map[manifest.ID][]manifest.Object
	last  []manifest.Object
}

func newThinner() *thinner { return &thinner{newer: map[manifest.ID][]manifest.Object{}} }

// thin is called with revisions from the newest on, see releasestore.Store.HistoryThinned.
func (t *thinner) thin(r *release.Revision) {
	if r.Part() != release.Whole && r.Part() != release.Sent {
		return
	}
	objects, err := r.Objects(t.last...)
	if err != nil {
		return // whoever needs them reports it
	}
	shareAlike(objects, t.last)
	t.last = objects
	var news []manifest.Object
	for _, o := range objects {
		if !slices.ContainsFunc(t.newer[o.ID], func(n manifest.Object) bool { return plan.Repeats(n, o) }) {
			news = append(news, o)
		}
	}
	if r.Part() == release.Sent && r.Failed() {
		r.Config, r.Hooks = nil, nil
		if len(news) == 0 || len(news) < len(objects) {
			if news, err = cut(r, news); err != nil {
				return
			}
		}
	}
	for _, o := range news {
		t.newer[o.ID] = append(t.newer[o.ID], o)
	}
}

// cut leaves only these objects in a revision's manifest, and parses it again: the objects may hold on to the text
// that they were parsed from.
func cut(r *release.Revision, left []manifest.Object) ([]manifest.Object, error) {
	var text strings.Builder
	for _, o := range left {
		if o.Text != "" {
			text.WriteString("---\n" + o.Text + "\n")
			continue
		}
		item, err := yaml.Marshal(o.Doc.Object) // of a list
		if err != nil {
			return nil, err
		}
		text.WriteString(manifest.Text([]manifest.Document{{Path: o.Source, Text: string(item)}}))
	}
	r.Manifest = text.String()
	return r.Objects()
}
