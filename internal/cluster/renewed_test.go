package cluster_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/cluster"
)

// credentials is a program that gives another token each time, of which nothing says when it expires.
const credentials = `#!/bin/sh
echo >> "$0.runs"
echo '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "'$(wc -l < "$0.runs")'"}}'
`

// When the token of a program for credentials has expired, a write is sent again with a new one; a server that
// refuses that one, too, has the last word.
func TestCredentialsAreRenewed(t *testing.T) {
	const created = "POST /api/v1/namespaces/shop/configmaps"
	for name, c := range map[string]struct {
		accepts string // of the credentials
		sent    int32  // times the write is sent
		refused bool
	}{
		"valid":         {accepts: "Bearer 1", sent: 1},
		"expired":       {accepts: "Bearer 2", sent: 2},
		"never allowed": {accepts: "none", sent: 2, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			program := filepath.Join(t.TempDir(), "credentials")
			if err := os.WriteFile(program, []byte(credentials), 0o700); err != nil { //nolint:gosec // it is run
				t.Fatal(err)
			}
			s.reply(created, configMap("a"))
			create := s.answers[created]
			var sent atomic.Int32
			s.answers[created] = func(w http.ResponseWriter, r *http.Request) {
				if sent.Add(1); r.Header.Get("Authorization") != c.accepts {
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				var got map[string]any
				if err := json.NewDecoder(r.Body).Decode(&got); err != nil || got["kind"] != "ConfigMap" {
					t.Errorf("attempt %d sent %v, %v", sent.Load(), got, err)
				}
				create(w, r)
			}
			client, err := cluster.Connect(&rest.Config{Host: s.URL, ExecProvider: &clientcmdapi.ExecConfig{
				Command: program, APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
			}}, cluster.Options{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.Create(t.Context(), &unstructured.Unstructured{Object: configMap("a")}, apply.WriteOptions{})
			if apierrors.IsUnauthorized(err) != c.refused || (err != nil) != c.refused || sent.Load() != c.sent {
				t.Errorf("sent %d times: %v", sent.Load(), err)
			}
		})
	}
}
