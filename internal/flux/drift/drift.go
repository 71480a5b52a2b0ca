// Package drift says which differences between live objects and the stored manifest
// spec.driftDetection of a HelmRelease ignores (fluxcd/pkg/ssa/jsondiff). It compares
// nothing itself: it is given the steps of a plan that corrects them.
package drift

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

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

// Overlook returns what helm-controller does not compare in a step that corrects drift:
// objects that say so, paths of spec.driftDetection.ignore, which are sent as they are live,
// and labels and annotations beyond those of the manifest.
func Overlook(hr *flux.HelmRelease, s *plan.Step) plan.Overlooked {
	if excluded(s.Body) || excluded(s.Before) || ignoresAll(hr, s.Body) {
		return plan.Overlooked{All: true}
	}
	if s.Before == nil || s.After == nil || s.Body == nil {
		return plan.Overlooked{}
	}
	after, sent := s.After.DeepCopy(), s.Body.DeepCopy()
	for _, rule := range ignored(hr) {
		if !selects(rule.Target, s.Body) {
			continue
		}
		for _, pointer := range rule.Paths {
			path := tokens(pointer)
			// What the manifest does not have and the apply does not remove is somebody else's, and stays so.
			if has(s.Body.Object, path) || !has(s.After.Object, path) {
				restore(sent.Object, s.Before.Object, path)
			}
			restore(after.Object, s.Before.Object, path)
		}
	}
	left := map[string]bool{}
	for _, c := range fielddiff.Compare(s.Before.Object, after.Object) {
		left[c.Path] = true
	}
	remain := slices.DeleteFunc(slices.Clone(s.Changes), func(c plan.Change) bool {
		metadata := strings.HasPrefix(c.Path, "metadata.labels") || strings.HasPrefix(c.Path, "metadata.annotations")
		return !left[c.Path] || metadata && c.To == nil
	})
	return plan.Overlooked{Sent: sent, After: after, Changes: remain}
}

func ignored(hr *flux.HelmRelease) []flux.DriftIgnore {
	if hr.Spec.DriftDetection == nil {
		return nil
	}
	return hr.Spec.DriftDetection.Ignore
}

// ignoresAll reports whether a rule's path is "", which stands for the whole object (fluxcd/pkg
// ssa/jsondiff, IgnorePathRoot).
func ignoresAll(hr *flux.HelmRelease, o *unstructured.Unstructured) bool {
	return o != nil && slices.ContainsFunc(ignored(hr), func(rule flux.DriftIgnore) bool {
		return slices.Contains(rule.Paths, "") && selects(rule.Target, o)
	})
}

func excluded(o *unstructured.Unstructured) bool {
	return o != nil && (o.GetLabels()[driftDetection] == "disabled" || o.GetAnnotations()[driftDetection] == "disabled")
}

// selects reports whether a selector, nil for all, selects an object.
func selects(s *flux.Selector, o *unstructured.Unstructured) bool {
	if s == nil {
		return true
	}
	gvk := o.GroupVersionKind()
	for _, c := range [][2]string{
		{s.Group, gvk.Group}, {s.Version, gvk.Version}, {s.Kind, gvk.Kind}, {s.Namespace, o.GetNamespace()}, {s.Name, o.GetName()},
	} {
		if ok, err := regexp.MatchString("^(?:"+c[0]+")$", c[1]); c[0] != "" && (err != nil || !ok) {
			return false
		}
	}
	return fits(s.LabelSelector, o.GetLabels()) && fits(s.AnnotationSelector, o.GetAnnotations())
}

func fits(selector string, of map[string]string) bool {
	parsed, err := labels.Parse(selector)
	return err == nil && parsed.Matches(labels.Set(of))
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
