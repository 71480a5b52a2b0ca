package plan

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// ImageChange is a change of an image: From is absent if the image is new, To if it is no longer
// used.
type ImageChange struct {
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Objects are the objects that use the image.
	Objects []manifest.ID `json:"objects"`
}

// images collects changes of fields named image, including those of custom resources. For hooks
// only the changes since an earlier revision count.
type images struct {
	list []ImageChange
	// was and is hold the images that objects and hooks use before and after the plan, changed or not.
	was, is map[string]bool
	// at holds the index in list of each change, by From and To; has holds the objects already
	// listed for a change.
	at  map[[2]string]int
	has map[imageUse]bool
}

// imageUse is one object of the change at index at of the list.
type imageUse struct {
	at     int
	object manifest.ID
}

// newImages returns a collection that knows the images of hooks: those of the last deployed revision, and those that the
// release has from now on. Most hooks run in other operations, and have no step.
func (b *builder) newImages() *images {
	i := &images{was: map[string]bool{}, is: map[string]bool{}, at: map[[2]string]int{}, has: map[imageUse]bool{}}
	if b.in.Operation != Upgrade && b.in.Operation != Rollback {
		return i
	}
	for key, hook := range b.lastHooks() {
		use(i.was, key.id, hook.Doc)
	}
	for _, o := range slices.Concat(b.in.HookObjects()...) {
		use(i.is, o.ID, o.Doc)
	}
	return i
}

// changes returns what has been collected. What another object used before is not new, and what another
// object goes on using is not gone.
func (i *images) changes() []ImageChange {
	return slices.DeleteFunc(i.list, func(c ImageChange) bool {
		return c.From == "" && i.was[c.To] || c.To == "" && i.is[c.From]
	})
}

// use notes the images of a resource before and after a step.
func (i *images) use(s *Step) {
	if s.Hook == nil {
		use(i.was, s.Object, s.Before)
		use(i.is, s.Object, s.result())
	}
}

// use notes the images that an object, if there is one, names.
func use(images map[string]bool, id manifest.ID, doc *unstructured.Unstructured) {
	if doc == nil || !namesImages(id) {
		return
	}
	for _, image := range imagesIn(doc.Object["spec"]) {
		images[image] = true
	}
}

// namesImages reports whether fields of the object that are named image mean images that it uses.
func namesImages(id manifest.ID) bool {
	gk := id.GroupKind()
	return gk != kinds.ConfigMap && gk != kinds.Secret && !id.IsCRD()
}

func (i *images) collect(s *Step) {
	switch {
	case !namesImages(s.Object):
		return
	case s.Op == OpCreate && s.outcome() != nil:
		i.pair(s.Object, nil, imagesIn(s.outcome().Object["spec"]))
	case s.Op == OpDelete && s.Before != nil && !s.HookDeletion():
		i.pair(s.Object, imagesIn(s.Before.Object["spec"]), nil)
	case s.Writes() || s.Op == OpRun:
		for _, c := range s.Changes {
			i.change(s.Object, c)
		}
	}
}

func (i *images) change(id manifest.ID, c Change) {
	parts := jsontree.Fields(c.Path)
	if c.Sensitive || len(parts) == 0 || parts[0] == "metadata" {
		return
	}
	if isImage(parts) {
		i.pair(id, texts(c.From), texts(c.To))
		return
	}
	i.pair(id, imagesIn(c.From), imagesIn(c.To))
}

// pair matches removed images with added ones, in order.
func (i *images) pair(id manifest.ID, from, to []string) {
	gone := slices.DeleteFunc(slices.Clone(from), func(image string) bool { return slices.Contains(to, image) })
	come := slices.DeleteFunc(slices.Clone(to), func(image string) bool { return slices.Contains(from, image) })
	for n := range max(len(gone), len(come)) {
		change := ImageChange{}
		if n < len(gone) {
			change.From = gone[n]
		}
		if n < len(come) {
			change.To = come[n]
		}
		i.add(id, change)
	}
}

func (i *images) add(id manifest.ID, change ImageChange) {
	at, known := i.at[[2]string{change.From, change.To}]
	if !known {
		at = len(i.list)
		i.at[[2]string{change.From, change.To}] = at
		i.list = append(i.list, change)
	}
	if use := (imageUse{at, id}); !i.has[use] {
		i.has[use] = true
		i.list[at].Objects = append(i.list[at].Objects, id)
	}
}

// imagesIn returns the values of all fields named image in v, sorted and without duplicates.
func imagesIn(v any) []string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if found := texts(v[key]); key == "image" && found != nil {
				out = append(out, found...)
				continue
			}
			out = append(out, imagesIn(v[key])...)
		}
	case []any:
		for _, item := range v {
			out = append(out, imagesIn(item)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func texts(v any) []string {
	if s, ok := v.(string); ok && s != "" {
		return []string{s}
	}
	return nil
}
