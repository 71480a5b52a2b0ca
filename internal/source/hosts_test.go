package source

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/outputfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// asked is a TLS server that records for each request whether a client certificate came with
// it, and refuses those without one if it requires one.
type asked struct {
	*httptest.Server
	ca        string
	files     map[string][]byte
	certified []bool
}

func serveCertified(t *testing.T, wanted tls.ClientAuthType) *asked {
	t.Helper()
	a := &asked{files: map[string][]byte{}, ca: filepath.Join(t.TempDir(), "ca.pem")}
	a.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.certified = append(a.certified, len(r.TLS.PeerCertificates) > 0)
		content, there := a.files[r.URL.Path]
		if !there {
			http.NotFound(w, r)
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}))
	a.TLS = &tls.Config{ClientAuth: wanted}
	a.StartTLS()
	t.Cleanup(a.Close)
	must(t, outputfile.Write(a.ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.Certificate().Raw}), 0o644))
	return a
}

// Connection settings of flags are for the server that is named first. To others, what is remembered of
// them counts; without that the CA file does, in addition to the system's authorities.
func TestSettingsOfFlagsAreForOneServer(t *testing.T) {
	other, s := sourcetest.Serve(t, sourcetest.Options{TLS: true}), ours(t)
	other.Publish(t, map[string][]string{"alpha": {"1.0.0"}})
	ca, _ := clientCertificate(t)
	s.Access = Access{Server: resolve.Server{CAFile: ca}}
	s.Settings.Hosts = resolve.Hosts{strings.TrimPrefix(other.URL, "https://"): {CAFile: other.CAFile}}
	for _, tc := range []struct {
		at   string
		want trust
	}{
		{"https://first", trust{Server: resolve.Server{CAFile: ca}}},
		{"https://second", trust{Server: resolve.Server{CAFile: ca}, system: true}},
		{other.URL, trust{Server: resolve.Server{CAFile: other.CAFile}}},
	} {
		s.transports = nil
		_, err := s.client(s.accessTo(tc.at), tc.at)
		must(t, err)
		if len(s.transports) != 1 || s.transports[tc.want] == nil {
			t.Errorf("%s: %+v", tc.at, s.transports)
		}
	}
	s = &Sources{Paths: s.Paths, Access: s.Access, Settings: s.Settings}
	s.accessTo("https://first")
	if _, err := fetch(t, s, resolve.Reference{Kind: resolve.Unconfigured, URL: other.URL, Name: "alpha"}); err != nil {
		t.Error(err)
	}
}

// --plain-http is for all registries but those of which something else is remembered.
func TestPlainHTTPOfFlags(t *testing.T) {
	s := ours(t)
	s.Access = Access{Server: resolve.Server{PlainHTTP: true}}
	s.Settings = resolve.Settings{PlainHTTP: []string{"listed.example.com"}, Hosts: resolve.Hosts{"kept.example.com": {Insecure: true}}}
	plain := func(host string, want bool) {
		t.Helper()
		if _, plain, err := s.registryClient(t.Context(), resolve.Image{Host: host, Path: "a"}); err != nil || plain != want {
			t.Errorf("%s: %v, %v", host, plain, err)
		}
	}
	plain("first.example.com", true)
	plain("second.example.com", true)
	plain("kept.example.com", false)
	s.Access = Access{Server: resolve.Server{Insecure: true}}
	plain("second.example.com", false)
	plain("listed.example.com", true)
}

// clientCertificate makes a self-signed one, in files.
func clientCertificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<36, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	must(t, err)
	bare, err := x509.MarshalECPrivateKey(private)
	must(t, err)
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	must(t, outputfile.Write(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	must(t, outputfile.Write(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: bare}), 0o600))
	return cert, key
}

// A client certificate is presented to the server that it is configured for, whether by an
// entry of repositories.yaml or hosts.yaml and whatever names the server, and to no other one
// that it leads to; there, that server's own configuration counts.
func TestClientCertificatesStay(t *testing.T) {
	cert, key := clientCertificate(t)
	for name, byHosts := range map[string]bool{"hosts.yaml": true, "repositories.yaml": false} {
		t.Run(name, func(t *testing.T) {
			own, other, s := serveCertified(t, tls.RequireAnyClientCert), serveCertified(t, tls.RequestClientCert), ours(t)
			chart := sourcetest.Chart(t, "alpha", "1.0.0", "")
			own.files["/index.yaml"] = sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: "1.0.0", URL: "alpha-1.0.0.tgz"}, sourcetest.Entry{Name: "beta", Version: "1.0.0", URL: other.URL + "/beta-1.0.0.tgz"})
			own.files["/alpha-1.0.0.tgz"], other.files["/beta-1.0.0.tgz"] = chart, sourcetest.Chart(t, "beta", "1.0.0", "")
			server := resolve.Server{CAFile: own.ca, CertFile: cert, KeyFile: key}
			if byHosts {
				s.Settings.Hosts = resolve.Hosts{strings.TrimPrefix(own.URL, "https://"): server}
				server = resolve.Server{}
			}
			_, err := s.AddRepository(t.Context(), resolve.Repository{Name: "a", URL: own.URL, CAFile: server.CAFile, CertFile: server.CertFile, KeyFile: server.KeyFile}, false)
			must(t, err)
			for _, ref := range []resolve.Reference{configured("a", "alpha", ""), {Kind: resolve.Unconfigured, URL: own.URL + "/", Name: "alpha"}, {Kind: resolve.Remote, URL: own.URL + "/alpha-1.0.0.tgz"}} {
				if _, err := fetch(t, s, ref); err != nil {
					t.Errorf("%+v: %v", ref, err)
				}
			}
			if s.Settings.Hosts == nil {
				s.Settings.Hosts = resolve.Hosts{}
			}
			s.Settings.Hosts[strings.TrimPrefix(other.URL, "https://")] = resolve.Server{CAFile: other.ca}
			if _, err := fetch(t, s, configured("a", "beta", "")); err != nil {
				t.Error(err)
			}
			if len(other.certified) != 1 || other.certified[0] {
				t.Errorf("the other server was shown a certificate: %v", other.certified)
			}
		})
	}
}
