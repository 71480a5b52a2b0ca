package cluster_test

import (
	"errors"
	"net/http"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/retry"
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

// A 404 without a Status is asked again: a proxy may have sent it. Only if discovery agrees does nothing exist.
func TestLookupBehindAProxy(t *testing.T) {
	for _, name := range []string{"a", ""} {
		s := newServer(t)
		c := s.connect(t)
		path := watched
		if name != "" {
			path += "/" + name
		}
		s.reply(path, map[string]any{"kind": "ConfigMapList", "apiVersion": "v1", "items": []any{}, "metadata": map[string]any{}})
		if name != "" {
			s.reply(path, configMap(name))
		}
		s.answers[path] = busy(2, http.StatusNotFound, nil, s.answers[path])
		if found, err := c.Lookup(t.Context(), "v1", "ConfigMap", "shop", name); err != nil || found == nil {
			t.Errorf("lookup of %q: %v, error %v", name, found, err)
		}
		s.answers[path] = http.NotFound
		s.reply("GET /api/v1", resources("v1", "secrets Secret"))
		if _, err := c.Lookup(t.Context(), "v1", "ConfigMap", "shop", name); !retry.Missing(err) {
			t.Errorf("lookup of %q of a kind that is gone: %v", name, err)
		}
	}
}

func TestMigrateOwnershipBehindAProxy(t *testing.T) {
	s := newServer(t)
	c := s.connect(t)
	s.answers[watched+"/a"] = http.NotFound
	if _, err := c.MigrateOwnership(t.Context(), ref("ConfigMap", "a"), "uid", apply.Fields{}, apply.WriteOptions{}); !apply.Passes(err) {
		t.Errorf("an object that a proxy does not know: %v", err)
	}
	delete(s.answers, watched+"/a")
	if found, err := c.MigrateOwnership(t.Context(), ref("ConfigMap", "a"), "uid", apply.Fields{}, apply.WriteOptions{}); found || err != nil {
		t.Errorf("an object that is gone: found %t, %v", found, err)
	}
}
