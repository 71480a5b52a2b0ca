package clustertest

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// ManyKinds is the number of kinds that the objects of ManyObjects have.
const ManyKinds = 5

// manyKinds holds the kinds of a chart with many objects, and a template for each:
// NUMBER stands for the object's number, CHANGE for what depends on the values.
var manyKinds = [ManyKinds]struct{ kind, body string }{
	{"ConfigMap", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: many-NUMBER, labels: {app: many}, annotations: {mark: \"{{ .Values.mark }}\"}}\ndata: {key: value-NUMBERCHANGE}\n"},
	{"Secret", "apiVersion: v1\nkind: Secret\nmetadata: {name: many-NUMBER, labels: {app: many}, annotations: {mark: \"{{ .Values.mark }}\"}}\nstringData: {key: value-NUMBER}\n"},
	{"Role", "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: many-NUMBER, labels: {app: many}, annotations: {mark: \"{{ .Values.mark }}\"}}\nrules: [{apiGroups: [\"\"], resources: [configmaps], resourceNames: [many-NUMBER], verbs: [get]}]\n"},
	{"ServiceAccount", "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: many-NUMBER, labels: {app: many}, annotations: {mark: \"{{ .Values.mark }}\"}}\n"},
	{"Deployment", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: many-NUMBER, labels: {app: many}, annotations: {mark: \"{{ .Values.mark }}\"}}\nspec:\n  replicas: 0\n  selector: {matchLabels: {app: many-NUMBER}}\n" +
		"  template:\n    metadata: {labels: {app: many-NUMBER}}\n    spec: {containers: [{name: app, image: \"many:1CHANGE\", env: [{name: POSITION, value: \"NUMBER\"}]}]}\n"},
}

// ManyObjects writes a chart with perKind ConfigMaps, Secrets, Roles, ServiceAccounts
// and Deployments each, and returns its folder. The value changed is how many
// ConfigMaps, and how many Deployments, differ from the default; the value mark is an
// annotation of every object.
func ManyObjects(t testing.TB, perKind int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "many")
	files := map[string]string{"Chart.yaml": "apiVersion: v2\nname: many\nversion: 1.0.0\n", "values.yaml": "changed: 0\nmark: \"\"\n"}
	for _, k := range manyKinds {
		var b strings.Builder
		for i := range perKind {
			change := fmt.Sprintf("{{ if gt (int .Values.changed) %d }}-changed{{ end }}", i)
			b.WriteString("---\n" + strings.NewReplacer("NUMBER", strconv.Itoa(i), "CHANGE", change).Replace(k.body))
		}
		files["templates/"+strings.ToLower(k.kind)+".yaml"] = b.String()
	}
	WriteFiles(t, dir, files)
	return dir
}
