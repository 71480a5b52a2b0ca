package argo

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// deployed is an Application web that deploys a chart to a destination.
func deployed(destination map[string]any) Placed {
	return Placed{From: "apps.yaml", Object: map[string]any{
		"metadata": map[string]any{"name": "web"},
		"spec": map[string]any{
			"destination": destination,
			"source":      map[string]any{"repoURL": "https://charts.example.com", "chart": "web", "targetRevision": "1.0.0"},
		},
	}}
}

// A cluster has the name of its destination, or of its server; only https, the usual port and a
// slash at the end are left out.
func TestClusters(t *testing.T) {
	for _, tc := range []struct{ name, server, want string }{
		{want: ""},
		{name: "in-cluster", want: ""},
		{server: "https://kubernetes.default.svc", want: ""},
		{server: "https://kubernetes.default.svc/", want: ""},
		{name: "prod", want: "prod"},
		{server: "https://prod.example.com", want: "prod.example.com"},
		{server: "https://prod.example.com/", want: "prod.example.com"},
		{server: "https://prod.azmk8s.io:443", want: "prod.azmk8s.io"},
		{server: "https://prod.example.com:6443", want: "prod.example.com:6443"},
		{server: "http://prod.example.com", want: "http://prod.example.com"},
		{server: "https://[fd00::443]:443", want: "[fd00::443]"},
		{server: "https://rancher.example.com:443/k8s/clusters/c-1/", want: "rancher.example.com/k8s/clusters/c-1"},
	} {
		var a application
		a.Spec.Destination.Name, a.Spec.Destination.Server = tc.name, tc.server
		if got := a.cluster(); got != tc.want {
			t.Errorf("%s%s: %q, want %q", tc.name, tc.server, got, tc.want)
		}
	}
}

// One release in several clusters of a host, or at several ports, is one in each.
func TestClustersThatShareAHost(t *testing.T) {
	var objects []Placed
	for _, server := range []string{"https://rancher/k8s/clusters/c-1", "https://rancher/k8s/clusters/c-2", "https://rancher:6443", "https://rancher"} {
		objects = append(objects, deployed(map[string]any{"server": server, "namespace": "shop"}))
	}
	set := Set(fstest.MapFS{}, releaseset.Checkout{}, objects)
	if err := set.Join(); err != nil {
		t.Error(err)
	}
	var got []string
	for _, e := range set.Entries {
		got = append(got, e.String())
	}
	want := []string{"rancher/k8s/clusters/c-1/shop/web", "rancher/k8s/clusters/c-2/shop/web", "rancher:6443/shop/web", "rancher/shop/web"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Parameters and names of files have the variables of the build environment, and values have none.
func TestBuildEnvironment(t *testing.T) {
	files := fstest.MapFS{"charts/web/Chart.yaml": {}}
	set := Set(files, releaseset.Checkout{}, []Placed{{Object: map[string]any{
		"metadata": map[string]any{"name": "web"},
		"spec": map[string]any{
			"destination": map[string]any{"namespace": "shop"},
			"sources": []any{map[string]any{"repoURL": "https://example.com/fleet", "ref": "ARGOCD_APP_NAME"}, map[string]any{
				"repoURL": "https://example.com/fleet", "path": "charts/web", "targetRevision": "main", "helm": map[string]any{
					"valueFiles":     []any{"values-$ARGOCD_APP_NAME.yaml", "/${ARGOCD_APP_NAMESPACE}/a.yaml", "$ARGOCD_APP_NAME/$ARGOCD_APP_NAME.yaml", "$ARGOCD_APP_NAMESPACE/b.yaml"},
					"values":         "a: $ARGOCD_APP_NAME",
					"fileParameters": []any{map[string]any{"name": "f", "path": "${ARGOCD_APP_NAME}.txt"}},
					"parameters": []any{
						map[string]any{"name": "host", "value": "$ARGOCD_APP_NAME.example.org"},
						map[string]any{"name": "price", "value": "$$x, ${none}1"},
						map[string]any{"name": "from", "value": "$ARGOCD_APP_SOURCE_PATH $ARGOCD_APP_SOURCE_TARGET_REVISION"},
						map[string]any{"name": "at", "value": "$ARGOCD_APP_REVISION_SHORT", "forceString": true},
					},
				},
			}},
		},
	}}})
	e := set.Entries[0]
	got := []string{string(e.Values[4].Inline)}
	for _, v := range e.Values[:4] {
		got = append(got, v.File)
	}
	got = append(append(append(got, e.Settings.Set...), e.Settings.String...), e.Settings.File...)
	want := []string{
		"a: $ARGOCD_APP_NAME", "charts/web/values-web.yaml", "shop/a.yaml", "web.yaml", "charts/web/shop/b.yaml",
		"host=web.example.org", `price=$x\, 1`, "from=charts/web main", "at=$ARGOCD_APP_REVISION_SHORT", "f=charts/web/web.txt",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if notes := e.Manager.Next(nil, nil, nil, false).Notes; len(notes) != 2 || !strings.Contains(notes[1], "$ARGOCD_APP_REVISION in a parameter is not replaced") {
		t.Errorf("%q", notes)
	}
}

// A chart in the checkout is that of another version, unless the source follows the branch or may do so.
func TestSourcesOfOtherVersions(t *testing.T) {
	tree := fstest.MapFS{"web/Chart.yaml": {}}
	const says = "it follows v1.0.0, not branch main: the change is applied once it is there"
	for _, tc := range []struct{ revision, branch, want string }{
		{"v1.0.0", "main", says},
		{"v1.0.0", "", ""},
		{"main", "main", ""},
		{"refs/heads/main", "main", ""},
		{"HEAD", "main", ""},
		{"", "main", ""},
	} {
		set := Set(tree, releaseset.Checkout{Branch: tc.branch}, []Placed{{Object: map[string]any{
			"metadata": map[string]any{"name": "web"},
			"spec":     map[string]any{"source": map[string]any{"repoURL": "https://example.com/fleet", "path": "web", "targetRevision": tc.revision}},
		}}})
		notes := set.Entries[0].Manager.Next(nil, nil, nil, false).Notes[1:]
		if got := strings.Join(notes, " "); got != tc.want {
			t.Errorf("%q on branch %q: %q, want %q", tc.revision, tc.branch, got, tc.want)
		}
	}
	fetched := Set(tree, releaseset.Checkout{Branch: "main"}, []Placed{deployed(nil)}).Entries[0].Manager.Next(nil, nil, nil, false)
	if len(fetched.Notes) != 1 {
		t.Errorf("%q: the version of a chart that is fetched is no branch", fetched.Notes)
	}
}
