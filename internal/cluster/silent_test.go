package cluster_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/retry"
	"github.com/kubectl-release/kubectl-release/plan"
)

// An object about which a reachable API server does not answer is estimated, and hides no other; if nothing is
// answered, that is an error.
func TestPredictOutlastsSilence(t *testing.T) {
	const configMaps, secrets, version = "POST /api/v1/namespaces/shop/configmaps", "POST /api/v1/namespaces/shop/secrets", "GET /version"
	hangUp := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	creation := func(kind string) *plan.Step {
		id := manifest.ID{Kind: kind, Namespace: "shop", Name: "a"}
		return &plan.Step{ID: kind, Op: plan.OpCreate, Object: id, APIVersion: "v1", Body: &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": "a", "namespace": "shop"},
		}}}
	}
	steps := []*plan.Step{creation("Secret"), creation("ConfigMap")}

	s := newServer(t)
	s.reply(configMaps, configMap("a"))
	s.answers[secrets] = hangUp
	got, err := s.connect(t).Predict(t.Context(), steps, apply.WriteOptions{})
	if err != nil || got["ConfigMap"].After == nil || !strings.HasPrefix(got["Secret"].Estimated, "the API server could not be asked: ") {
		t.Errorf("got %+v, error %v", got, err)
	}

	// Of the same kind in another namespace, where other webhooks may be asked, it is asked about.
	other := creation("ConfigMap")
	other.ID, other.Object.Namespace = "other", "other"
	other.Body.SetNamespace("other")
	s.answers[configMaps] = hangUp
	s.reply("POST /api/v1/namespaces/other/configmaps", configMap("a"))
	connected := s.connect(t)
	var many []*plan.Step // more than are asked about at the same time
	for i := range retry.Concurrency + 1 {
		s := creation("ConfigMap")
		s.ID = strconv.Itoa(i)
		many = append(many, s)
	}
	got, err = connected.Predict(t.Context(), append(many, other), apply.WriteOptions{})
	if err != nil || got["other"].After == nil {
		t.Errorf("got %+v, error %v", got["other"], err)
	}
	s.answers[version] = hangUp
	if got, err := s.connect(t).Predict(t.Context(), steps, apply.WriteOptions{}); err == nil {
		t.Errorf("got %+v of a server that answers nothing", got)
	}
}
