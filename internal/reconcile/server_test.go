package reconcile_test

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
)

func configMapOf(name string, data map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": "shop"}, "data": data}}
}

// Check 40: a ConfigMap with the provider generic says where the release goes, and whose
// tokens are presented there; what can't be followed is refused with the reason.
func TestCheck40KubeconfigOfAConfigMap(t *testing.T) {
	const own, named = "", "remote"
	for _, tc := range []struct {
		why, standard string
		data          map[string]any
		want          reconcile.Server
		refused       string
	}{
		{
			why: "the controller's own account", data: map[string]any{"provider": "generic", "address": "https://API.example.com"},
			want: reconcile.Server{Address: "https://api.example.com:443", Audiences: []string{"https://API.example.com"}, Account: own},
		},
		{
			why: "an account", data: map[string]any{"provider": "generic", "address": "10.0.0.1:6443", "ca.crt": "pem", "audiences": "a\n\n b \n", "serviceAccountName": named},
			want: reconcile.Server{Address: "https://10.0.0.1:6443", Authority: "pem", Audiences: []string{"a", "b"}, Account: named},
		},
		{
			why: "the standard account", standard: "deployer", data: map[string]any{"provider": "generic", "address": "https://h:1", "audiences": "a"},
			want: reconcile.Server{Address: "https://h:1", Audiences: []string{"a"}, Account: "deployer"},
		},
		{why: "a cloud's", data: map[string]any{"provider": "aws", "cluster": "arn:x"}, refused: "the provider 'aws' is not supported, only 'generic' is"},
		{why: "no provider", data: map[string]any{"address": "https://h"}, refused: "the provider '' is not supported"},
		{why: "no address", data: map[string]any{"provider": "generic"}, refused: "address: it is required"},
		{why: "no TLS", data: map[string]any{"provider": "generic", "address": "http://h"}, refused: "'http://h' is not an https address"},
		{
			why: "the controller's own account for others", data: map[string]any{"provider": "generic", "address": "https://h", "audiences": "https://kubernetes.default.svc"},
			refused: "audiences require a serviceAccountName",
		},
	} {
		t.Run(tc.why, func(t *testing.T) {
			b := newBench(t, "kubeConfig: {configMapRef: {name: remote}}")
			b.r.DefaultServiceAccount = tc.standard
			if _, err := b.pass(); err == nil || b.condition("Ready") != "Ready False RESTClientError" {
				t.Errorf("without the ConfigMap: %v, %s", err, b.condition("Ready"))
			}
			b.local["ConfigMap/remote"] = configMapOf("remote", tc.data)
			if tc.refused != "" {
				if _, err := b.pass(); err == nil || !strings.Contains(err.Error(), tc.refused) || b.condition("Ready") != "Ready False RESTClientError" {
					t.Errorf("%v, %s", err, b.condition("Ready"))
				}
				return
			}
			b.mustPass()
			tc.want.Namespace = "shop"
			got := b.access[len(b.access)-1].Server
			if got == nil || got.Address != tc.want.Address || got.Authority != tc.want.Authority || got.Account != tc.want.Account ||
				got.Namespace != tc.want.Namespace || !slices.Equal(got.Audiences, tc.want.Audiences) {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

// Requests to the server of a ConfigMap carry a token of the ServiceAccount, issued for
// that server by the local API server; a new one is requested when it is refused or has expired.
func TestTokensOfTheServiceAccount(t *testing.T) {
	var asked []authenticationv1.TokenRequest
	var accounts, shown []string
	valid := time.Hour
	local := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(q.URL.Path, "/selfsubjectreviews") {
			_ = json.NewEncoder(w).Encode(authenticationv1.SelfSubjectReview{Status: authenticationv1.SelfSubjectReviewStatus{
				UserInfo: authenticationv1.UserInfo{Username: "system:serviceaccount:flux-system:controller"},
			}})
			return
		}
		var r authenticationv1.TokenRequest
		if err := json.NewDecoder(q.Body).Decode(&r); err != nil {
			t.Error(err)
		}
		asked, accounts = append(asked, r), append(accounts, q.URL.Path)
		r.Status = authenticationv1.TokenRequestStatus{Token: "token-" + string(rune('0'+len(asked))), ExpirationTimestamp: metav1.NewTime(time.Now().Add(valid))}
		_ = json.NewEncoder(w).Encode(r)
	}))
	defer local.Close()
	refusing := false
	remote := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		shown = append(shown, q.Header.Get("Authorization")+" as "+q.Header.Get("Impersonate-User"))
		if refusing {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"Secret","apiVersion":"v1","metadata":{"name":"x"}}`))
	}))
	defer remote.Close()
	authority := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: remote.Certificate().Raw}))
	connect := reconcile.NewConnector(&rest.Config{Host: local.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}, cluster.Options{CacheDir: t.TempDir()}, time.Now)
	get := func(account string) {
		t.Helper()
		c, err := connect(t.Context(), reconcile.Access{User: "system:serviceaccount:shop:deployer", Server: &reconcile.Server{
			Address: remote.URL, Authority: authority, Audiences: []string{"remote"}, Namespace: "shop", Account: account,
		}})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Records.Secrets("shop").Get(t.Context(), "x", metav1.GetOptions{})
	}
	get("edge")
	get("edge")
	if len(asked) != 1 || !slices.Equal(asked[0].Spec.Audiences, []string{"remote"}) || accounts[0] != "/api/v1/namespaces/shop/serviceaccounts/edge/token" {
		t.Fatalf("asked for %+v of %q", asked, accounts)
	}
	if want := "Bearer token-1 as system:serviceaccount:shop:deployer"; !slices.Equal(shown, []string{want, want}) {
		t.Errorf("shown %q", shown)
	}
	refusing = true
	get("edge")
	refusing = false
	get("edge")
	if last := shown[len(shown)-1]; !strings.HasPrefix(last, "Bearer token-2 ") {
		t.Errorf("behind a refusal %q is shown", last)
	}
	valid = time.Second // too short: such a token counts as expired
	get("")
	get("")
	if n := len(accounts); n != 4 || accounts[3] != "/api/v1/namespaces/flux-system/serviceaccounts/controller/token" {
		t.Errorf("asked for %q", accounts)
	}
}
