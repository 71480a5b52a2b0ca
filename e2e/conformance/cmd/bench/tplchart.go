package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// writeTplChart makes a chart that calls tpl 2,000 times among 2,000 defines.
// Helm clones all templates for each call.
func writeTplChart(dir string) error {
	const calls = 2000
	var defines, uses strings.Builder
	for i := range calls {
		fmt.Fprintf(&defines, "{{- define \"part.%d\" }}part {{ .Values.name }} %d{{ end }}\n", i, i)
		fmt.Fprintf(&uses, "  key%d: {{ tpl \"{{ include \\\"part.%d\\\" . }}\" . | quote }}\n", i, i)
	}
	files := map[string]string{
		"Chart.yaml":               "apiVersion: v2\nname: tpl\nversion: 1.0.0\n",
		"values.yaml":              "name: web\n",
		"templates/_defines.tpl":   defines.String(),
		"templates/configmap.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: tpl}\ndata:\n" + uses.String(),
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}
