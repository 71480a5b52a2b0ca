package plan

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/patch"
)

// diff fills the step's changes from its Before and After.
func (b *builder) diff(step *Step) {
	if step.Before == nil || step.After == nil {
		return
	}
	step.Changes = nil
	for _, c := range patch.Diff(step.Before.Object, step.After.Object) {
		step.Changes = append(step.Changes, Change{
			Path: c.Path, From: c.From, To: c.To,
			Sensitive: secretField(step.Object, c.Path),
		})
	}
}

func secretField(id manifest.ID, path string) bool {
	if id.Group != "" || id.Kind != "Secret" {
		return false
	}
	return strings.HasPrefix(path, "data") || strings.HasPrefix(path, "stringData")
}

// attribute says of each change where it comes from: what differs between the
// stored and the wanted document was changed by chart or values, what only the
// live object has was changed by somebody else.
func (b *builder) attribute(step *Step, o manifest.Object, stored StoredObject) {
	if len(stored.Docs) == 0 {
		for i := range step.Changes {
			step.Changes[i].Cause = CauseAdopted
		}
		return
	}
	// A failed attempt may have asked for the same as this plan without getting
	// it: what differs from any of the stored documents is intended.
	latest := stored.Latest().Doc
	var intended []patch.FieldChange
	for _, d := range stored.Docs {
		intended = append(intended, patch.Diff(d.Doc.Object, o.Doc.Object)...)
	}
	if o.Group == "" && o.Kind == "Secret" {
		for i := range intended {
			intended[i].Path = asData(intended[i].Path)
		}
	}
	for i := range step.Changes {
		c := &step.Changes[i]
		switch {
		case touches(intended, c.Path):
			c.Cause, c.Detail = b.intent(*c)
		case mentions(c.Path, step.Body.Object, latest.Object):
			c.Cause = CauseDrift
			c.Detail, c.At = b.writing(step.Before, c.Path)
		default:
			c.Cause = CauseServer
		}
	}
}

// asData is the path at which the API server keeps what a Secret says in
// stringData.
func asData(path string) string {
	if rest, ok := strings.CutPrefix(path, "stringData"); ok {
		return "data" + rest
	}
	return path
}

// touches says whether a path lies in, above or at one of the changes.
func touches(changes []patch.FieldChange, path string) bool {
	for _, c := range changes {
		if within(c.Path, path) || within(path, c.Path) {
			return true
		}
	}
	return false
}

// within says whether inner is outer or lies below it.
func within(inner, outer string) bool {
	rest, ok := strings.CutPrefix(inner, outer)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// mentions says whether one of the documents sets something at or above the
// path's first two segments. What neither the chart nor the last revision ever
// said is the server's own doing.
func mentions(path string, docs ...map[string]any) bool {
	top, rest, _ := strings.Cut(path, ".")
	next, _, _ := strings.Cut(rest, ".")
	next, _, _ = strings.Cut(next, "[")
	for _, d := range docs {
		section, there := d[strings.SplitN(top, "[", 2)[0]]
		if !there {
			continue
		}
		fields, isMap := section.(map[string]any)
		if !isMap || next == "" {
			return true
		}
		if _, there := fields[next]; there {
			return true
		}
	}
	return false
}

// intent tells a change of the values from one of the chart. With the same
// chart it can only be the values; with another chart a value that turns up in
// the field gives the key away.
func (b *builder) intent(c Change) (Cause, string) {
	if b.in.Against != nil && b.plan.ChartFrom.Name == "" {
		return "", "" // rendered YAML does not say from what
	}
	sameChart := !b.plan.otherFiles()
	if key := b.valuesKey(c); key != "" {
		return CauseValues, key
	}
	if sameChart && len(b.in.Values) > 0 {
		return CauseValues, ""
	}
	return CauseChart, ""
}

// valuesKey is the one changed value that turns up in the change, "" when none
// or several do.
func (b *builder) valuesKey(c Change) string {
	found := ""
	for _, v := range b.in.Values {
		if !turnsUp(v.To, c.To) {
			continue
		}
		if found != "" {
			return ""
		}
		found = v.Path
	}
	if found == "" && len(b.in.Values) == 1 && !b.plan.otherFiles() {
		return b.in.Values[0].Path
	}
	return found
}

// turnsUp says whether a value is the field's new value or a telling part of it.
func turnsUp(value, field any) bool {
	if value == nil || field == nil {
		return false
	}
	if reflect.DeepEqual(value, field) || fmt.Sprint(value) == fmt.Sprint(field) {
		return true
	}
	v, okV := value.(string)
	f, okF := field.(string)
	return okV && okF && len(v) >= 3 && strings.Contains(f, v)
}
