// Package drift says which differences between live objects and the stored manifest
// spec.driftDetection of a HelmRelease ignores (fluxcd/pkg/ssa/jsondiff). It compares
// nothing itself: it is given the steps of a plan that corrects them.
package drift

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// driftDetection is the label or annotation that, with the value "disabled", keeps an object
// from being compared.
const driftDetection = flux.HelmGroup + "/driftDetection"

// Refused reports whether an object has a blocking problem: its dry run was refused.
func Refused(p *plan.Document, id manifest.ID) bool {
	return slices.ContainsFunc(p.Problems, func(problem plan.Problem) bool { return problem.Blocking && problem.Object == id })
}

// Rules are those of spec.driftDetection.ignore, compiled.
type Rules []rule

type rule struct {
	target *flux.Selection
	paths  []string
}

// Compile compiles the rules of a HelmRelease. With one that can't be compiled, helm-controller does
// not look for drift at all (fluxcd/pkg ssa 0.76.1, jsondiff/unstructured.go, CompileIgnoreRules).
func Compile(hr *flux.HelmRelease) (Rules, error) {
	if hr.Spec.DriftDetection == nil {
		return nil, nil
	}
	var out Rules
	for i, r := range hr.Spec.DriftDetection.Ignore {
		target, err := r.Target.Compile()
		if err != nil {
			return nil, fmt.Errorf("spec.driftDetection.ignore[%d].target.%w", i, err)
		}
		out = append(out, rule{target, r.Paths})
	}
	return out, nil
}

// Overlook returns what helm-controller does not compare in a step that corrects drift:
// objects that say so, paths of the rules, and metadata except labels and annotations, which are sent
// as they are live, and labels and annotations beyond those of the manifest.
func (r Rules) Overlook(s *plan.Step) plan.Overlooked {
	if excluded(s.Body) || excluded(s.Before) {
		return plan.Overlooked{All: true}
	}
	pointers := r.paths(s.Body)
	if slices.Contains(pointers, wholeObject) {
		return plan.Overlooked{All: true}
	}
	if s.Before == nil || s.After == nil || s.Body == nil {
		return plan.Overlooked{}
	}
	paths := uncompared(s.Changes)
	for _, pointer := range pointers {
		paths = append(paths, tokens(pointer))
	}
	after, sent := s.After.DeepCopy(), s.Body.DeepCopy()
	for _, path := range paths {
		// What the manifest does not have and the apply does not remove is somebody else's, and stays so.
		if has(s.Body.Object, path) || !has(s.After.Object, path) {
			restore(sent.Object, s.Before.Object, path)
		}
		restore(after.Object, s.Before.Object, path)
	}
	left := map[string]bool{}
	for _, c := range fielddiff.Compare(s.Before.Object, after.Object) {
		left[c.Path] = true
	}
	remain := slices.DeleteFunc(slices.Clone(s.Changes), func(c plan.Change) bool {
		return !left[c.Path] || strings.HasPrefix(c.Path, "metadata.") && c.To == nil
	})
	return plan.Overlooked{Sent: sent, After: after, Changes: remain}
}

// wholeObject is the path that stands for the whole object (fluxcd/pkg ssa/jsondiff, IgnorePathRoot).
const wholeObject = ""

// paths returns the paths that the rules ignore in an object.
func (r Rules) paths(o *unstructured.Unstructured) []string {
	var out []string
	for _, rule := range r {
		if o != nil && rule.target.Selects(o) {
			out = append(out, rule.paths...)
		}
	}
	return out
}

// uncompared returns the fields of metadata with changes, except labels and annotations (fluxcd/pkg
// ssa 0.76.1, jsondiff/unstructured.go, diffUnstructuredMetadata and removeMetadataAndStatus).
func uncompared(changes []plan.Change) [][]string {
	var out [][]string
	for _, c := range changes {
		names := strings.FieldsFunc(c.Path, func(r rune) bool { return r == '.' || r == '[' })
		if len(names) > 1 && names[0] == "metadata" && names[1] != "labels" && names[1] != "annotations" {
			out = append(out, names[:2])
		}
	}
	return out
}

func excluded(o *unstructured.Unstructured) bool {
	return o != nil && (o.GetLabels()[driftDetection] == "disabled" || o.GetAnnotations()[driftDetection] == "disabled")
}

// tokens returns the parts of a JSON pointer (RFC 6901).
func tokens(pointer string) []string {
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i := range parts {
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(parts[i])
	}
	return parts
}

// has reports whether there is a value at a path.
func has(in any, path []string) bool {
	if len(path) == 0 {
		return true
	}
	switch in := in.(type) {
	case map[string]any:
		below, ok := in[path[0]]
		return ok && has(below, path[1:])
	case []any:
		i, err := strconv.Atoi(path[0])
		return err == nil && i >= 0 && i < len(in) && has(in[i], path[1:])
	}
	return false
}

// restore resets the value at a path to what it was before.
func restore(after, before any, path []string) {
	key := path[0]
	switch after := after.(type) {
	case map[string]any:
		was, _ := before.(map[string]any)
		value, had := was[key]
		below, has := after[key]
		switch {
		case len(path) > 1 && has:
			restore(below, value, path[1:])
		case len(path) > 1:
		case had:
			after[key] = value
		default:
			delete(after, key)
		}
	case []any:
		was, _ := before.([]any)
		i, err := strconv.Atoi(key)
		switch {
		case err != nil || i < 0 || i >= len(after) || i >= len(was):
		case len(path) > 1:
			restore(after[i], was[i], path[1:])
		default:
			after[i] = was[i]
		}
	}
}
