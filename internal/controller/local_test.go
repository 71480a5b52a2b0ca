package controller

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// With --watch-all-namespaces=false, a dependency in another namespace is read from the API server.
func TestDependenciesInNamespacesThatAreNotWatched(t *testing.T) {
	scheme, mapper := runtime.NewScheme(), meta.NewDefaultRESTMapper(nil)
	addTypes(scheme)
	mapper.Add(helmVersion.WithKind(flux.KindHelmRelease), meta.RESTScopeNamespace)
	watched, err := cache.New(&rest.Config{Host: "https://local.invalid"}, cache.Options{
		Scheme: scheme, Mapper: mapper, DefaultNamespaces: map[string]cache.Config{"flux-system": {}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &server{version: "7"}
	base, err := local{cached: watched, live: s}.Lookup(t.Context(), helmVersion.String(), flux.KindHelmRelease, "apps", "base")
	if err != nil || base.GetResourceVersion() != "7" || s.asked != 1 {
		t.Errorf("%v, %v, the API server is asked %d times", base, err, s.asked)
	}
}

// Whole numbers of a HelmRelease in the cache are int64, as the API server's: CEL's % takes no floating-point numbers.
func TestWholeNumbersOfCachedHelmReleases(t *testing.T) {
	_, e := desk(t, nil)
	base, err := local{cached: e}.Lookup(t.Context(), helmVersion.String(), flux.KindHelmRelease, "apps", "web")
	if err != nil {
		t.Fatal(err)
	}
	if generation, ok, err := unstructured.NestedInt64(base.Object, "metadata", "generation"); generation != 1 || !ok || err != nil {
		t.Errorf("the generation is %d, %t, %v", generation, ok, err)
	}
}
