package cluster_test

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/kubectl-release/kubectl-release/templating"
)

// A kind that its group version lacks is told from a group version that is not served (Helm 4.3.1,
// pkg/engine/lookup_func.go, getAPIResourceForGVK).
func TestLookupOfUnknownKinds(t *testing.T) {
	s := newServer(t)
	s.aggregate("broken.io/v1")
	c := s.connect(t)
	for _, name := range []string{"a", ""} {
		for _, asked := range []struct {
			apiVersion, kind string
			unknown          bool
		}{{"v1", "configmap", true}, {"apps/v1", "Scale", true}, {"none.io/v1", "Thing", false}, {"apps/v2", "Deployment", false}, {"broken.io/v1", "Thing", false}} {
			_, err := c.Lookup(t.Context(), asked.apiVersion, asked.kind, "shop", name)
			var unknown *templating.UnknownKindError
			switch {
			case err == nil, errors.As(err, &unknown) != asked.unknown:
				t.Errorf("lookup %s %s %q gives %v", asked.apiVersion, asked.kind, name, err)
			case !asked.unknown && asked.apiVersion != "broken.io/v1" && !meta.IsNoMatchError(err):
				t.Errorf("lookup %s %s %q gives %v, want that nothing matches", asked.apiVersion, asked.kind, name, err)
			}
		}
	}
}
