package patch

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/immutable"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
)

// FuzzThreeWay merges any three documents: no panic, the inputs stay as they are, and
// the prediction can be made for every patch. The seeds are the cases of testdata/merge.
func FuzzThreeWay(f *testing.F) {
	files, err := filepath.Glob("testdata/merge/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		docs := map[string]string{}
		for _, doc := range txtar.Parse(data).Files {
			docs[doc.Name] = string(doc.Data)
		}
		f.Add(docs["stored"], docs["live"], docs["target"])
	}
	f.Add("spec: 1", "{kind: Pod, apiVersion: v1, spec: [x], metadata: 3}", "{kind: Pod, apiVersion: v1, spec: {containers: [null, 1, {name: {}}]}}")
	f.Add("", "{kind: Service, apiVersion: v1, spec: {ports: [[], {port: 1e99}]}}", "{kind: Service, apiVersion: v1, spec: {ports: [{port: 1}, {port: 1.0}, {port: '1'}]}}")
	f.Add("spec: {ports: [{port: []}]}", "{kind: Service, apiVersion: v1, spec: {ports: [{port: []}, {port: [1]}]}}", "{kind: Service, apiVersion: v1, spec: {ports: [{port: [2]}, {port: []}, {port: {}}]}}")
	f.Fuzz(func(t *testing.T, stored, live, target string) {
		s, l, w := anything(stored), anything(live), anything(target)
		if l == nil || w == nil {
			return
		}
		w.SetAPIVersion(l.GetAPIVersion())
		w.SetKind(l.GetKind())
		p, err := ThreeWay(s, l, w)
		if err == nil {
			if _, err := Apply(l, p); err != nil {
				t.Errorf("a patch that can't be applied: %s: %v", p.Data, err)
			}
		}
		if InSync(s, l, w) && err == nil && !p.Empty() {
			t.Errorf("Agree says that nothing is to be done, and the patch is %s", p.Data)
		}

		DuplicateKeys(w, false)
		fielddiff.Compare(l.Object, w.Object)
		immutable.Predict(l, w)
	})
}

func anything(text string) *unstructured.Unstructured {
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil
	}
	var m map[string]any
	if jsontree.Unmarshal(raw, &m) != nil || m == nil {
		return nil
	}
	return &unstructured.Unstructured{Object: m}
}
