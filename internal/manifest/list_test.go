package manifest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// What a list yields is what the API machinery makes of it for Helm 4.3.1 (k8s.io/apimachinery v0.37.2,
// pkg/apis/meta/v1/unstructured/helpers.go, decode and decodeToList).
func TestLists(t *testing.T) {
	for name, test := range map[string]struct {
		document string
		want     []string
	}{
		"a list of nothing":    {"apiVersion: v1\nkind: List\nitems: []\n", nil},
		"items that are empty": {"apiVersion: v1\nkind: List\nitems:\n", nil},
		"items that are null":  {"{\"apiVersion\": \"v1\", \"kind\": \"ConfigMapList\", \"items\": null}", nil},
		"items of a typed list": {
			"apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleList\nitems:\n- metadata: {name: a}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n",
			[]string{"rbac.authorization.k8s.io/v1 Role/a", "v1 ConfigMap/b"},
		},
		"a typed list in a list": {
			"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMapList, items: [{metadata: {name: a}}]}\n",
			[]string{"v1 ConfigMap/a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			objects, err := manifest.ParseDocument(test.document, "list.yaml")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range objects {
				got = append(got, o.GVK().GroupVersion().String()+" "+o.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Kind and apiVersion come from the list only if an item has neither.
func TestListItemsWithoutKind(t *testing.T) {
	for document, want := range map[string]string{
		"apiVersion: v1\nkind: List\nitems: [{metadata: {name: a}}]\n":                          "list.yaml: an object has no kind",
		"apiVersion: v1\nkind: ConfigMapList\nitems: [{apiVersion: v1, metadata: {name: a}}]\n": "list.yaml: an object has no kind",
		"apiVersion: v1\nkind: ConfigMapList\nitems: [{kind: Secret, metadata: {name: a}}]\n":   "list.yaml: Secret has no apiVersion",
	} {
		if _, err := manifest.ParseDocument(document, "list.yaml"); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", document, err, want)
		}
	}
}
