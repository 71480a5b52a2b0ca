package plan

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/serverfields"
)

// diff sets the step's changes to the differences between its Before and its After.
func (b *builder) diff(step *Step) {
	if step.Before == nil || step.After == nil {
		return
	}
	step.Changes = nil
	before := step.Before
	if step.Op == OpRecreate {
		before = serverfields.StripServerAssigned(before, nil, step.Body)
	}
	for _, c := range fielddiff.Compare(before.Object, step.After.Object) {
		step.Changes = append(step.Changes, Change{
			Path: c.Path, From: c.From, To: c.To,
			Sensitive: secretField(step.Object, c.Path),
		})
	}
}

func secretField(id manifest.ID, path string) bool {
	if !id.IsSecret() {
		return false
	}
	parts := jsontree.SplitPath(path)
	return len(parts) > 0 && serverfields.IsSecretField(parts[0])
}

// attribute sets the cause of each change. A field that differs between the stored and the wanted
// document was changed by the chart or the values. A field that differs between the live object and
// what was sent, or that another field manager wrote, is drift. All other changes come from the API
// server.
func (b *builder) attribute(step *Step, o manifest.Object, stored StoredObject) {
	if len(stored.Docs) == 0 {
		for i := range step.Changes {
			step.Changes[i].Cause = CauseAdopted
		}
		return
	}
	// A failed attempt may have asked for the same as this plan without getting
	// it, so a difference from any of the stored documents is intended.
	var intended []fielddiff.Change
	for _, d := range stored.Docs {
		intended = append(intended, fielddiff.Compare(b.asSent(d.Doc, o.Doc).Object, o.Doc.Object)...)
	}
	if o.IsSecret() {
		for i := range intended {
			intended[i].Path = asData(intended[i].Path)
		}
	}
	sent := pathsOf(intended)
	var drifted paths // computed when first needed
	for i := range step.Changes {
		c := &step.Changes[i]
		if sent.touch(c.Path) {
			c.Cause, c.Detail = b.intent(*c)
			continue
		}
		if drifted == nil {
			drifted = pathsOf(b.drifted(step, stored))
		}
		c.Cause = CauseServer
		c.Manager, c.At = b.writing(step.Object, c.Path)
		c.Detail = written(c.Manager, c.At, b.in.Now)
		if c.Manager != "" || drifted.touch(c.Path) {
			c.Cause = CauseDrift
		}
	}
	step.Changes = slices.DeleteFunc(step.Changes, func(c Change) bool { return invented(step, c) })
}

// invented reports whether a change is an artefact of the estimate: the estimate removes a field
// that the API server had filled in and will fill in again. A field that conflicts with one the
// chart sets really is removed.
func invented(step *Step, c Change) bool {
	return step.Fidelity == FidelityEstimated && c.Cause == CauseServer && c.To == nil &&
		!slices.ContainsFunc(step.Clears, func(path string) bool { return within(c.Path, path) })
}

// drifted returns the fields that were sent and now have another value in the live object, or are
// missing there. Fields that only the live object has are not included: the API server may have set
// them.
func (b *builder) drifted(step *Step, stored StoredObject) []fielddiff.Change {
	sent := owned(serverfields.WithoutStringData(stored.Latest().Doc), b.in.Release)
	return slices.DeleteFunc(fielddiff.Compare(sent.Object, step.Before.Object), func(c fielddiff.Change) bool { return c.From == nil })
}

// asData converts a path into a Secret's stringData to the path in data where the API server stores
// the value (k8s.io/api/core/v1/types.go, Secret.StringData).
func asData(path string) string {
	if rest, ok := strings.CutPrefix(path, "stringData"); ok {
		return "data" + rest
	}
	return path
}

// touches reports whether the step changes the path itself, something below it or something above
// it.
func (s *Step) touches(path string) bool {
	return slices.ContainsFunc(s.Changes, func(c Change) bool { return within(c.Path, path) || within(path, c.Path) })
}

// within reports whether inner is outer or lies below it.
func within(inner, outer string) bool {
	rest, ok := strings.CutPrefix(inner, outer)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// intent returns whether a change comes from the values or from the chart, and which key of the
// values caused it, if that is clear. If the chart is unchanged, it comes from the values; if not,
// it does so when a changed value appears in the field.
func (b *builder) intent(c Change) (Cause, string) {
	if b.in.Against != nil && b.plan.ChartFrom.Name == "" {
		return "", "" // rendered YAML does not say what it was rendered from
	}
	sameChart := !b.plan.OtherFiles()
	set := slices.DeleteFunc(slices.Clone(b.in.Values), func(v Change) bool { return v.Cause == CauseChart })
	if key := valuesKey(set, c, sameChart); key != "" {
		return CauseValues, key
	}
	if sameChart && len(set) > 0 {
		return CauseValues, ""
	}
	return CauseChart, ""
}

// valuesKey returns the one changed key of the values whose value appears in the change, or "" if
// there is none or more than one. With the same chart, a single changed key is always the one.
func valuesKey(values []Change, c Change, sameChart bool) string {
	found := ""
	plain := c.To
	if text, ok := c.To.(string); ok && c.Sensitive {
		if decoded, err := base64.StdEncoding.DecodeString(text); err == nil { // data of a Secret
			plain = string(decoded)
		}
	}
	for _, v := range values {
		if !turnsUp(v.To, c.To) && !turnsUp(v.To, plain) {
			continue
		}
		if found != "" {
			return ""
		}
		found = v.Path
	}
	if found == "" && len(values) == 1 && sameChart {
		return values[0].Path
	}
	return found
}

// turnsUp reports whether a value is the field's new value or a recognisable part of it.
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
