package readiness

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/objecttest"
)

// TestCheck runs testdata: one archive per kind, one file per case. A case is YAML: the
// object, then the objects related to it, then, after "--- # before", the object as it
// was when it was written. Its leading comments say why it exists, how to ask ("# ask:
// jobs" or "# ask: hook") and what must come out ("# want: state: sentence").
func TestCheck(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil || len(archive.Files) == 0 {
			t.Fatal(file, "has no cases", err)
		}
		for _, f := range archive.Files {
			name := strings.TrimSuffix(filepath.Base(file), ".txtar") + "/" + f.Name
			t.Run(name, func(t *testing.T) { runCase(t, string(f.Data)) })
		}
	}
}

func runCase(t *testing.T, text string) {
	want, ok := directive(text, "want")
	if !ok {
		t.Fatal("the case wants nothing")
	}
	ask, _ := directive(text, "ask")
	text, then, written := strings.Cut(text, "--- # before\n")
	objects := decode(t, text)
	ctx := Context{WaitForJobs: ask == "jobs", Related: objects[1:]}
	if written {
		ctx.Before = decode(t, then)[0]
	}
	before := objects[0].DeepCopy()
	r := Check(objects[0], ctx)
	if ask == "hook" {
		r = HookDone(objects[0], ctx)
	}
	if diff := cmp.Diff(want, string(r.State)+": "+r.Why); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, objects[0]); diff != "" {
		t.Errorf("the object was changed:\n%s", diff)
	}
}

func directive(text, name string) (string, bool) {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "# "+name+": "); ok {
			return strings.TrimSpace(rest), true
		}
	}
	return "", false
}

func decode(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	for doc := range strings.SplitSeq(text, "---\n") {
		objects = append(objects, objecttest.Parse(t, doc))
	}
	return objects
}

// A missing object is not ready, and no reason to panic.
func TestAbsent(t *testing.T) {
	if got := Check(nil, Context{}); got.State != Progressing {
		t.Errorf("Check(nil) = %v", got)
	}
	if got := HookDone(nil, Context{}); got.State != Progressing {
		t.Errorf("HookDone(nil) = %v", got)
	}
}

// A status of the wrong shape, as a broken controller may write it, causes no panic for
// any kind.
func TestMalformedStatus(t *testing.T) {
	kinds := []string{
		"v1/Pod", "v1/Service", "v1/PersistentVolumeClaim", "v1/ReplicationController", "batch/v1/Job",
		"apps/v1/Deployment", "apps/v1/StatefulSet", "apps/v1/DaemonSet", "apps/v1/ReplicaSet",
		"apiextensions.k8s.io/v1/CustomResourceDefinition", "apiregistration.k8s.io/v1/APIService",
		"policy/v1/PodDisruptionBudget", "example.com/v1/Widget", "v1/Namespace",
	}
	shapes := []any{
		nil, "x", int64(1),
		[]any{"x"},
		map[string]any{"conditions": "x"},
		map[string]any{"conditions": []any{"x", nil, map[string]any{"type": int64(1)}}, "observedGeneration": "x"},
		map[string]any{"containerStatuses": []any{"x", map[string]any{"state": "x"}}, "phase": []any{}},
	}
	for _, kind := range kinds {
		i := strings.LastIndex(kind, "/")
		for _, shape := range shapes {
			u := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": kind[:i], "kind": kind[i+1:],
				"metadata": map[string]any{"name": "x"}, "spec": shape, "status": shape,
			}}
			if r := Check(u, Context{WaitForJobs: true, Before: u}); r.State == "" || r.Why == "" {
				t.Errorf("%s %v: %v", kind, shape, r)
			}
			if r := HookDone(u, Context{Before: u}); r.State == "" || r.Why == "" {
				t.Errorf("hook %s %v: %v", kind, shape, r)
			}
		}
	}
}
