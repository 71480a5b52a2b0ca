package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// object checks one rendered object.
func (r *run) object(o manifest.Object, at Finding, text string) {
	at.Object = o.String()
	if why := badName(o.GroupKind(), o.Name); why != "" {
		r.judge(at, fmt.Sprintf("metadata.name %q: %s", o.Name, why))
	} else if fits := kinds.Of(o.GroupKind()).Naming.Advised; fits > 0 && len(o.Name) > fits {
		f := at
		f.Severity = Warning
		f.Message = fmt.Sprintf("metadata.name %q has %d characters; its pods get a label made from it, which is valid only for names of up to %d", o.Name, len(o.Name), fits)
		r.add(f)
	}
	if why := validation.IsDNS1035Label(o.Name); o.GroupKind() == kinds.Service && len(why) > 0 && badName(o.GroupKind(), o.Name) == "" {
		f := at
		f.Severity, f.Message = Warning, fmt.Sprintf("metadata.name %q begins with a digit, which Kubernetes before 1.36 refuses for a Service", o.Name)
		r.add(f)
	}
	if o.Namespace != "" {
		if why := brief(validation.IsDNS1123Label(o.Namespace)); why != "" {
			r.judge(at, fmt.Sprintf("metadata.namespace %q: %s", o.Namespace, why))
		}
	}
	r.labels(o, at)
	r.selector(o, at)
	r.life(o, at)
	r.fields(o, at, text)
	r.custom(o, at)
}

// badName returns why the API server refuses a name, "" when it does not.
func badName(kind schema.GroupKind, name string) string {
	var why []string
	naming := kinds.Of(kind).Naming
	switch naming.Form {
	case kinds.Label:
		why = validation.IsDNS1123Label(name)
	case kinds.AnyName:
	case kinds.PathSegment:
		why = pathSegment(name)
	case kinds.Subdomain:
		why = apivalidation.NameIsDNSSubdomain(name, false)
	}
	if len(why) == 0 && naming.Max > 0 && len(name) > naming.Max {
		why = []string{fmt.Sprintf("must be no more than %d characters", naming.Max)}
	}
	return brief(why)
}

// brief joins what the API machinery says, without its examples and patterns.
func brief(why []string) string {
	short := make([]string, len(why))
	for i, text := range why {
		short[i], _, _ = strings.Cut(text, " (e.g. ")
	}
	return strings.Join(short, "; ")
}

// pathSegment checks the name of an RBAC object, which may contain colons.
func pathSegment(name string) []string {
	switch {
	case name == ".", name == "..":
		return []string{"must not be . or .."}
	case strings.ContainsAny(name, "/%"):
		return []string{"must not contain / or %"}
	}
	return nil
}

// labels checks the labels of an object and of its pod template.
func (r *run) labels(o manifest.Object, at Finding) {
	for _, path := range [][]string{{"metadata", "labels"}, {"spec", "template", "metadata", "labels"}} {
		found, _, _ := unstructured.NestedFieldNoCopy(o.Doc.Object, path...)
		table, ok := found.(map[string]any)
		if !ok {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(table)) {
			where := strings.Join(path, ".") + "[" + key + "]"
			if why := brief(validation.IsQualifiedName(key)); why != "" {
				r.judge(at, where+": the key is invalid: "+why)
			}
			value, isText := table[key].(string)
			if !isText && table[key] != nil {
				r.judge(at, fmt.Sprintf("%s: %v must be a string: put it in quotes", where, table[key]))
				continue
			}
			if why := brief(validation.IsValidLabelValue(value)); why != "" {
				r.judge(at, fmt.Sprintf("%s: %q: %s", where, value, why))
			}
		}
	}
}

// selector checks that a workload selects pods, and that they are its own.
func (r *run) selector(o manifest.Object, at Finding) {
	if !kinds.Of(o.GroupKind()).SelectsPods {
		return
	}
	labels, _, _ := unstructured.NestedMap(o.Doc.Object, "spec", "selector", "matchLabels")
	rules, _, _ := unstructured.NestedSlice(o.Doc.Object, "spec", "selector", "matchExpressions")
	if len(labels) == 0 && len(rules) == 0 {
		// Helm calls this an error, whether required values are missing or not (Helm 4.3.1,
		// pkg/chart/v2/lint/rules/template.go, validateMatchSelector).
		at.Severity, at.Message = Error, "spec.selector must have matchLabels or matchExpressions"
		r.add(at)
		return
	}
	pods, _, _ := unstructured.NestedMap(o.Doc.Object, "spec", "template", "metadata", "labels")
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if !jsontree.Same(pods[key], labels[key]) {
			r.judge(at, fmt.Sprintf("spec.selector.matchLabels[%s] is %v, but the pods' label is %v", key, labels[key], orNone(pods[key])))
		}
	}
}

func orNone(v any) any {
	if v == nil {
		return "missing"
	}
	return v
}
