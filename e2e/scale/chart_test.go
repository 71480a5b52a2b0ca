//go:build cluster

package scale

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// generatedKinds are the kinds of objects in a generated chart; resource is also the name of the template,
// and body is what follows the metadata. Controllers create no pods for these objects, but a ReplicaSet for
// each Deployment and endpoints for each Service.
var generatedKinds = []struct{ apiVersion, kind, resource, body string }{
	{"v1", "ConfigMap", "configmaps", "data:\n  key: value-{{ $i }}\n  mark: {{ $.Values.mark | quote }}\n"},
	{"v1", "Service", "services", "spec:\n  clusterIP: None\n  selector: {app: many-{{ $i }}}\n  ports:\n    - {name: http, port: 80, protocol: TCP, targetPort: http}\n"},
	{"v1", "ServiceAccount", "serviceaccounts", "automountServiceAccountToken: false\n"},
	{"rbac.authorization.k8s.io/v1", "Role", "roles", "rules:\n  - apiGroups: [\"\"]\n    resources: [configmaps]\n    resourceNames: [many-{{ $i }}]\n    verbs: [get, list]\n"},
	{"apps/v1", "Deployment", "deployments", `spec:
  replicas: 0
  selector:
    matchLabels: {app: many-{{ $i }}}
  template:
    metadata:
      labels: {app: many-{{ $i }}}
    spec:
      containers:
        - name: app
          image: registry.example/many:1
          env:
            - {name: POSITION, value: {{ $i | quote }}}
          resources:
            requests: {cpu: 10m, memory: 16Mi}
`},
}

// generatedChart writes a chart that renders as many objects as the value objects says, a
// fifth of each kind, and returns its folder. Each object contains the value mark.
func generatedChart(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "many")
	files := map[string]string{"Chart.yaml": "apiVersion: v2\nname: many\nversion: 1.0.0\n", "values.yaml": "objects: 100\nmark: \"\"\n"}
	for _, k := range generatedKinds {
		files["templates/"+k.resource+".yaml"] = fmt.Sprintf("{{- range $i := until (div (int .Values.objects) %d | int) }}\n---\napiVersion: %s\nkind: %s\n"+
			"metadata:\n  name: many-{{ $i }}\n  labels:\n    app: many\n  annotations:\n    mark: {{ $.Values.mark | quote }}\n%s{{- end }}\n", len(generatedKinds), k.apiVersion, k.kind, k.body)
	}
	clustertest.WriteFiles(t, dir, files)
	return dir
}

// collection returns the path at which the objects of a kind are listed in a namespace.
func collection(apiVersion, resource, namespace string) string {
	root := "/apis/"
	if !strings.Contains(apiVersion, "/") {
		root = "/api/"
	}
	return root + apiVersion + "/namespaces/" + namespace + "/" + resource
}
