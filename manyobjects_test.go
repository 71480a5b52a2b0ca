package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// manyKinds are the kinds of a chart of many objects, with what one looks like:
// NUMBER is its number, CHANGE what depends on the values.
var manyKinds = map[string]string{
	"ConfigMap":      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: many-NUMBER, labels: {app: many}}\ndata: {key: value-NUMBERCHANGE}\n",
	"Secret":         "apiVersion: v1\nkind: Secret\nmetadata: {name: many-NUMBER, labels: {app: many}}\nstringData: {key: value-NUMBER}\n",
	"Service":        "apiVersion: v1\nkind: Service\nmetadata: {name: many-NUMBER, labels: {app: many}}\nspec: {selector: {app: many-NUMBER}, ports: [{name: http, port: 80}]}\n",
	"ServiceAccount": "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: many-NUMBER, labels: {app: many}}\n",
	"Deployment": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: many-NUMBER, labels: {app: many}}\nspec:\n  replicas: 0\n  selector: {matchLabels: {app: many-NUMBER}}\n" +
		"  template:\n    metadata: {labels: {app: many-NUMBER}}\n    spec: {containers: [{name: app, image: \"many:1CHANGE\", env: [{name: POSITION, value: \"NUMBER\"}]}]}\n",
}

// manyObjects is a chart of perKind objects of each of manyKinds. As many
// ConfigMaps and as many Deployments as the value changed says differ from what
// they are without it.
func manyObjects(t *testing.T, perKind int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "many")
	if err := os.MkdirAll(filepath.Join(dir, "templates"), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("Chart.yaml", "apiVersion: v2\nname: many\nversion: 1.0.0\n")
	write("values.yaml", "changed: 0\n")
	for kind, body := range manyKinds {
		var b strings.Builder
		for i := range perKind {
			change := fmt.Sprintf("{{ if gt (int .Values.changed) %d }}-changed{{ end }}", i)
			b.WriteString("---\n" + strings.NewReplacer("NUMBER", strconv.Itoa(i), "CHANGE", change).Replace(body))
		}
		write(filepath.Join("templates", strings.ToLower(kind)+".yaml"), b.String())
	}
	return dir
}
