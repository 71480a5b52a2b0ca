package cluster_test

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/templating"
)

// A cluster's version is what it says, vendor's suffix and "+" included (Helm 4.3.1,
// pkg/action/action.go, getCapabilities), once it does: a proxy's 404 is not its answer.
func TestVersionOfTheCluster(t *testing.T) {
	s := newServer(t)
	s.aggregate()
	s.reply("GET /version", map[string]any{"major": "1", "minor": "33+", "gitVersion": "v1.33.4-eks-abc123"})
	s.answers["GET /version"] = busy(1, http.StatusNotFound, nil, s.answers["GET /version"])
	s.reply(kubeSystem, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "kube-system"}})
	facts, err := s.connect(t).Facts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := (templating.KubeVersion{Version: "v1.33.4-eks-abc123", Major: "1", Minor: "33+"}); facts.KubeVersion != want {
		t.Errorf("the version is %+v, want %+v", facts.KubeVersion, want)
	}
}

// A user without the role system:discovery, such as one whose kubeconfig has no credentials, learns what is refused.
func TestRefusedFactsSayWhy(t *testing.T) {
	for _, path := range []string{"/version", "/api"} {
		t.Run(path, func(t *testing.T) {
			s := newServer(t)
			s.aggregate()
			s.reply("GET /version", map[string]any{"gitVersion": "v1.36.3"})
			s.reply(kubeSystem, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "kube-system"}})
			why := `forbidden: User "system:anonymous" cannot get path "` + path + `"`
			s.refuse("GET "+path, http.StatusForbidden, metav1.StatusReasonForbidden, why)
			s.cache = "" // discovery may still go on when the test is over
			_, err := s.connect(t).Facts(t.Context())
			if err == nil || !strings.HasSuffix(err.Error(), ": "+why) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
