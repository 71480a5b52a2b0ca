//go:build cluster

// Package flux_test holds the acceptance checks of plans for Flux's HelmReleases, with the whole
// program.
package flux_test

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	clusterapi "github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// cluster is the control plane of the suite.
var cluster *clustertest.Cluster

func TestMain(m *testing.M) {
	os.Exit(clustertest.Main(m, clustertest.Options{}, func(c *clustertest.Cluster) { cluster = c }))
}

// prepared gets the control plane ready for traces, and removes what they made when the test ends.
func prepared(t *testing.T) *clusterapi.Client {
	t.Helper()
	crds(t)
	emptied(t)
	local, err := clusterapi.Connect(cluster.Config(t), clusterapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return local
}

// emptied deletes the namespaces of traces from the control plane when the test ends: other tests use
// the same ones.
func emptied(t *testing.T) {
	t.Helper()
	ctx := context.Background()
	namespaces := kubernetes.NewForConfigOrDie(cluster.Config(t)).CoreV1().Namespaces()
	own := func() (out []string) {
		all, err := namespaces.List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, namespace := range all.Items {
			out = append(out, namespace.Name)
		}
		return out
	}
	before := own()
	t.Cleanup(func() {
		objects := dynamic.NewForConfigOrDie(cluster.Config(t)).Resource(helmReleases)
		left, err := objects.List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, hr := range left.Items {
			if len(hr.GetFinalizers()) == 0 {
				continue
			}
			if _, err := objects.Namespace(hr.GetNamespace()).Patch(ctx, hr.GetName(), types.MergePatchType, []byte(`{"metadata": {"finalizers": null}}`), metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		made := slices.DeleteFunc(own(), func(name string) bool { return slices.Contains(before, name) })
		for _, name := range made {
			if err := namespaces.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		for deadline := time.Now().Add(5 * time.Minute); len(own()) > len(before); time.Sleep(200 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("namespaces do not go: %q", own())
			}
		}
	})
}
