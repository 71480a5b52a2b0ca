package plan

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/crdschema"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// CRDChange describes how a CustomResourceDefinition changes, or, if it is left as it is, what an
// update would change.
type CRDChange struct {
	Object manifest.ID `json:"object"`
	Change ChangeKind  `json:"change"`
	// Fields is the number of fields that differ; descriptions, labels and annotations don't count.
	Fields int `json:"fields,omitempty"`
	// Tightens lists the fields that are validated more strictly, Drops the fields and versions
	// that no longer exist, for example "v1 spec.replicas".
	Tightens []string `json:"tightens,omitempty"`
	Drops    []string `json:"drops,omitempty"`
}

// crdChanges describes the change of one CRD. It returns nil if only descriptions, labels or
// annotations change.
func crdChanges(id manifest.ID, change ChangeKind, before, after *unstructured.Unstructured) []CRDChange {
	out := CRDChange{Object: id, Change: change}
	if change != Created && change != Deleted && before != nil && after != nil {
		d := crdschema.Compare(before, after)
		if d.Fields == 0 {
			return nil
		}
		out.Fields, out.Tightens, out.Drops = d.Fields, d.Tightens, d.Drops
	}
	return []CRDChange{out}
}

// definition returns what defines the kind of the step's object among the CRDs that this plan writes before
// it. For a hook that runs before the resources these are only those of crds/.
func (b *builder) definition(s *Step) (d manifest.DefinedKind, ok bool) {
	from := b.brings
	if pre, _, _ := moments(b.in.Operation); s.Op == OpRun && s.Hook.Event == pre {
		from = b.first
	}
	d, ok = from[s.Object.GroupKind()]
	return d, ok
}

// redefines reports whether this plan changes the existing CRD of the step's kind before it sends the step's
// object. Until then the API server refuses, or drops, what only the new schema allows.
func (b *builder) redefines(s *Step) bool {
	d, ok := b.definition(s)
	if !ok {
		return false
	}
	kind := s.Object.GroupKind()
	if redefined, known := b.redefined[kind]; known {
		return redefined
	}
	live := b.live(d.CRD.ID).Object
	stored, _ := b.storedObject(d.CRD.ID)
	redefined := live != nil && b.updates(d.CRD.ID) && !b.agree(d.CRD, stored, live)
	if redefined {
		differs := crdschema.Compare(live, d.CRD.Doc)
		redefined = differs.Fields > differs.Display
	}
	b.redefined[kind] = redefined
	return redefined
}

// leaveCRD notes that an existing CRD stays as it is although the one in the chart's crds/ differs.
func (b *builder) leaveCRD(o manifest.Object, live *unstructured.Unstructured) {
	changes := crdChanges(o.ID, Left, live, o.Doc)
	if changes == nil {
		b.plan.Existing = append(b.plan.Existing, o.ID)
	}
	b.plan.Impact.CRDs = append(b.plan.Impact.CRDs, changes...)
}

// warnLeftCRDs warns that existing CRDs that differ from the chart's stay as they are: requests
// that use new fields fail, or the fields are dropped silently.
func (b *builder) warnLeftCRDs() {
	left := b.plan.Impact.CRDs
	if len(left) == 0 {
		return
	}
	fields := 0
	var tightened, dropping []string
	for _, c := range left {
		fields += c.Fields
		if len(c.Tightens) > 0 {
			tightened = append(tightened, c.Object.Name)
		}
		if len(c.Drops) > 0 {
			dropping = append(dropping, c.Object.Name)
		}
	}
	than := "the cluster's"
	if b.in.Against != nil {
		than = "the base's"
	}
	what := fmt.Sprintf("%s in crds/ %s from %s (%s); those in the cluster stay as they are, as with Helm",
		counted(len(left), "CRD", "CRDs"), oneOrMany(len(left), "differs", "differ"), than, counted(fields, "field", "fields"))
	var update []string
	for _, effect := range []string{among(tightened, len(left), "validate more strictly in"), among(dropping, len(left), "drop fields or versions in")} {
		if effect != "" {
			update = append(update, effect)
		}
	}
	if len(update) > 0 {
		what += "; an update would " + strings.Join(update, " and ")
	}
	b.problems(Problem{Foremost: true, What: what, Do: "add --update-crds to update them, too, and to see each change"})
}

// among returns "WHAT all of them", or WHAT with the first few names, or "" if there are none; all
// is the number of CRDs that the names are taken from.
func among(names []string, all int, what string) string {
	const shown = 3
	switch n := len(names); {
	case n == 0:
		return ""
	case n == all && all > 1:
		return what + " all of them"
	case n > shown:
		return fmt.Sprintf("%s %d: %s and %d more", what, n, strings.Join(names[:shown], ", "), n-shown)
	}
	return what + " " + strings.Join(names, ", ")
}

func counted(n int, one, many string) string { return fmt.Sprintf("%d %s", n, oneOrMany(n, one, many)) }

func oneOrMany(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
