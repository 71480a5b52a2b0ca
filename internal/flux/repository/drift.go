package repository

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// driftDetection is the label or annotation of objects that are not compared, with the
// value "disabled".
const driftDetection = flux.HelmGroup + "/driftDetection"

// drift is the outcome of a comparison. An object that can't be compared counts only when
// there is no other difference.
func drift(p *plan.Document) decision.Drift {
	if p == nil {
		return decision.DriftNotLooked
	}
	out := decision.DriftNone
	if p.Blocked() {
		out = decision.DriftUnknown
	}
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Op != plan.OpNone && !refused(p, s.Object) {
			out = decision.DriftFound
		}
	})
	return out
}

func refused(p *plan.Document, id manifest.ID) bool {
	return slices.ContainsFunc(p.Problems, func(problem plan.Problem) bool { return problem.Blocking && problem.Object == id })
}

// drifted are notes about what has drifted, without values.
func (m *Managed) drifted(p *plan.Document) []string {
	var out []string
	p.Steps(func(_ plan.StageName, s *plan.Step) {
		name := fmt.Sprintf("%s %s/%s", s.Object.Kind, s.Object.Namespace, s.Object.Name)
		switch {
		case s.Op == plan.OpNone:
		case refused(p, s.Object):
			out = append(out, name+" can't be compared")
		case s.Op == plan.OpCreate:
			out = append(out, name+" has drifted: it was deleted")
		default:
			var fields []string
			for _, c := range s.Changes {
				fields = append(fields, c.Path)
			}
			out = append(out, name+" has drifted: "+strings.Join(fields, ", "))
			if s.Object.IsSecret() && m.hr.DriftMode() == flux.DriftEnabled {
				out = append(out, name+" is not corrected by helm-controller 1.6, which can't patch Secrets: the HelmRelease does not become ready")
			}
		}
	})
	return out
}

// Overlook takes out of a step what helm-controller does not compare: objects that say so,
// paths of spec.driftDetection.ignore, and labels and annotations beyond those of the
// manifest.
func (m *Managed) Overlook(s *plan.Step) {
	if excluded(s.Body) || excluded(s.Before) {
		s.Op, s.Changes = plan.OpNone, nil
		return
	}
	if s.Before == nil || s.After == nil {
		return
	}
	after := s.After.DeepCopy()
	for _, rule := range m.hr.Spec.DriftDetection.Ignore {
		if !selects(rule.Target, s.Body) {
			continue
		}
		for _, pointer := range rule.Paths {
			restore(after.Object, s.Before.Object, tokens(pointer))
		}
	}
	left := map[string]bool{}
	for _, c := range fielddiff.Compare(s.Before.Object, after.Object) {
		left[c.Path] = true
	}
	s.After = after
	s.Changes = slices.DeleteFunc(s.Changes, func(c plan.Change) bool {
		metadata := strings.HasPrefix(c.Path, "metadata.labels") || strings.HasPrefix(c.Path, "metadata.annotations")
		return !left[c.Path] || metadata && c.To == nil
	})
}

func excluded(o *unstructured.Unstructured) bool {
	return o != nil && (o.GetLabels()[driftDetection] == "disabled" || o.GetAnnotations()[driftDetection] == "disabled")
}

// selects says whether a selector, nil for all, takes an object.
func selects(s *flux.Selector, o *unstructured.Unstructured) bool {
	if s == nil {
		return true
	}
	if o == nil {
		return false
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

// tokens are the parts of a JSON pointer (RFC 6901).
func tokens(pointer string) []string {
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i := range parts {
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(parts[i])
	}
	return parts
}

// restore gives the value at a path back what it was before.
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
