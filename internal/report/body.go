package report

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/plan"
)

// digest says in a few words what an object is that is created: "replicas 3,
// image shop/web:2.0". It is empty for kinds it does not know.
func digest(u *unstructured.Unstructured) string {
	if u == nil {
		return ""
	}
	var facts []string
	switch u.GetKind() {
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet":
		facts = append(facts, fact(u, "replicas", "spec", "replicas"))
		facts = append(facts, images(u, "spec", "template", "spec")...)
	case "Job":
		facts = images(u, "spec", "template", "spec")
	case "Pod":
		facts = images(u, "spec")
	case "CronJob":
		facts = append(facts, fact(u, "schedule", "spec", "schedule"))
		facts = append(facts, images(u, "spec", "jobTemplate", "spec", "template", "spec")...)
	case "Service":
		facts = append(facts, fact(u, "", "spec", "type"), ports(u))
	case "ConfigMap", "Secret":
		facts = append(facts, dataKeys(u))
	case "Ingress":
		facts = append(facts, each(u, "host", "host", "spec", "rules"))
	case "PersistentVolumeClaim":
		facts = append(facts, fact(u, "", "spec", "resources", "requests", "storage"), fact(u, "class", "spec", "storageClassName"))
	case "HorizontalPodAutoscaler":
		facts = append(facts, fact(u, "min", "spec", "minReplicas"), fact(u, "max", "spec", "maxReplicas"))
	case "PodDisruptionBudget":
		facts = append(facts, fact(u, "minAvailable", "spec", "minAvailable"), fact(u, "maxUnavailable", "spec", "maxUnavailable"))
	case "RoleBinding", "ClusterRoleBinding":
		facts = append(facts, fact(u, "", "roleRef", "kind")+" "+fact(u, "", "roleRef", "name"), each(u, "for", "name", "subjects"))
	case "Role", "ClusterRole":
		rules, _, _ := unstructured.NestedSlice(u.Object, "rules")
		facts = append(facts, count(len(rules), "rule", "rules"))
	case "CustomResourceDefinition":
		facts = append(facts, fact(u, "", "spec", "names", "kind"), each(u, "versions", "name", "spec", "versions"))
	}
	return joinFacts(facts)
}

func joinFacts(facts []string) string {
	var told []string
	for _, f := range facts {
		if f = strings.TrimSpace(f); f != "" {
			told = append(told, f)
		}
	}
	return strings.Join(told, ", ")
}

func field(u *unstructured.Unstructured, path ...string) any {
	v, _, err := unstructured.NestedFieldNoCopy(u.Object, path...)
	if err != nil {
		return nil
	}
	return v
}

func fact(u *unstructured.Unstructured, label string, path ...string) string {
	v := field(u, path...)
	if v == nil {
		return ""
	}
	return label + " " + cut(value(v), 60)
}

// items are the maps of a list.
func items(u *unstructured.Unstructured, path ...string) []map[string]any {
	all, _ := field(u, path...).([]any)
	var out []map[string]any
	for _, item := range all {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func images(u *unstructured.Unstructured, pod ...string) []string {
	var names []string
	for _, c := range items(u, append(pod, "containers")...) {
		if image, ok := c["image"].(string); ok {
			names = append(names, cutMiddle(escape.Line(image), 60))
		}
	}
	switch len(names) {
	case 0:
		return nil
	case 1:
		return []string{"image " + names[0]}
	}
	return []string{"images " + list(names, 3)}
}

func ports(u *unstructured.Unstructured) string {
	var all []string
	for _, p := range items(u, "spec", "ports") {
		port := value(p["port"])
		if target := p["targetPort"]; target != nil && value(target) != port {
			port += "→" + value(target)
		}
		all = append(all, port)
	}
	if len(all) == 0 {
		return ""
	}
	return "port " + list(all, 4)
}

func each(u *unstructured.Unstructured, label, key string, path ...string) string {
	var names []string
	for _, item := range items(u, path...) {
		if name, ok := item[key].(string); ok && name != "" {
			names = append(names, escape.Line(name))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return label + " " + list(names, 3)
}

func dataKeys(u *unstructured.Unstructured) string {
	var names []string
	for _, part := range []string{"data", "stringData", "binaryData"} {
		if m, ok := u.Object[part].(map[string]any); ok {
			for _, key := range keys(m) {
				names = append(names, escape.Line(key))
			}
		}
	}
	if len(names) == 0 {
		return "empty"
	}
	return fmt.Sprintf("%s %s", strings.Fields(count(len(names), "key", "keys"))[1], list(names, 4))
}

// fullBody is the YAML of what a step creates, nil when it creates nothing.
func fullBody(s *plan.Step) []string {
	u := s.Body
	if u == nil {
		u = s.After
	}
	if u == nil {
		return nil
	}
	raw, err := yaml.Marshal(u.Object)
	if err != nil {
		return []string{"(can't be shown: " + escape.Line(err.Error()) + ")"}
	}
	return escape.Lines(string(raw))
}
