package cluster_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-release/kubectl-release/internal/cluster"
)

const kubeSystem = "GET /api/v1/namespaces/kube-system"

// A transient failure is not mistaken for missing permission to read the cluster's identity:
// the request is tried again, and an error if it keeps failing.
func TestWhatHidesTheClustersIdentity(t *testing.T) {
	for name, test := range map[string]struct {
		faults, code int
		reason       metav1.StatusReason // of a Status for good
		uid, says    string
	}{
		"readable":             {0, 200, "", "uid-of-kube-system", ""},
		"500, then readable":   {2, 500, "", "uid-of-kube-system", ""},
		"forbidden":            {0, 403, metav1.StatusReasonForbidden, "", ""},
		"not found":            {0, 404, metav1.StatusReasonNotFound, "", ""},
		"a proxy's 404":        {2, 404, "", "uid-of-kube-system", ""},
		"that for good":        {100, 404, "", "", ""},
		"500 for good":         {100, 500, "", "", "ask for the identity of the cluster (namespace kube-system)"},
		"unavailable for good": {100, 503, "", "", "ask for the identity of the cluster (namespace kube-system)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			s.aggregate()
			s.reply("GET /version", map[string]any{"gitVersion": "v1.36.3"})
			s.reply(kubeSystem, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "kube-system", "uid": "uid-of-kube-system"}})
			whole := s.answers[kubeSystem]
			if test.reason != "" {
				s.refuse(kubeSystem, test.code, test.reason, "no")
			} else {
				s.answers[kubeSystem] = busy(test.faults, test.code, nil, whole)
			}
			facts, err := s.connect(t).Facts(t.Context())
			if test.says == "" && err != nil || test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)) {
				t.Fatalf("got %v, want an error with %q", err, test.says)
			}
			if facts.Cluster.UID != test.uid {
				t.Errorf("the UID is %q, want %q", facts.Cluster.UID, test.uid)
			}
		})
	}
}

// Certificate authorities are identified by their certificates, not by their text, and
// a server whose certificate is not verified has none.
func TestTheClusterIsToldByItsAuthority(t *testing.T) {
	first, second := certificate(t), certificate(t)
	identity := func(config rest.Config) string {
		t.Helper()
		c, err := cluster.Connect(&config, cluster.Options{CacheDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		return c.Authority()
	}
	with := func(pems ...string) rest.Config {
		return rest.Config{Host: "https://127.0.0.1:1", TLSClientConfig: rest.TLSClientConfig{CAData: []byte(strings.Join(pems, ""))}}
	}
	both := identity(with(first, second))
	if again := identity(with("# the same, written by hand\n", second, first, first)); both != again {
		t.Errorf("%s and %s are the same authorities", both, again)
	}
	if one := identity(with(first)); one == both || !strings.HasPrefix(one, "sha256:") {
		t.Errorf("one authority is %s, two are %s", one, both)
	}
	if got := identity(rest.Config{Host: "https://127.0.0.1:1"}); got != "system" {
		t.Errorf("the machine's own authorities are %q", got)
	}
	if got := identity(rest.Config{Host: "127.0.0.1:1"}); got != "" {
		t.Errorf("a server without TLS has the authority %q", got)
	}
	if got := identity(rest.Config{Host: "https://127.0.0.1:1", TLSClientConfig: rest.TLSClientConfig{Insecure: true}}); got != "" {
		t.Errorf("a server that nobody checks has the authority %q", got)
	}
}

func certificate(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}
