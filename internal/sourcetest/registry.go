package sourcetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/kubectl-release/kubectl-release/internal/porttest"
)

// Registry is a distribution/distribution registry on 127.0.0.1.
type Registry struct {
	// Host is HOST:PORT. CAFile contains its certificate if it speaks TLS.
	Host, CAFile string

	program, folder string
	log             string
	process         *exec.Cmd
}

// RegistryOptions configures a registry. With a user, it speaks TLS.
type RegistryOptions struct {
	// Program is the registry's binary: testcluster/bin/registry.
	Program string
	// User and Password are required if they are set.
	User, Password string
	// Token is the URL of a token server, RootCertBundle the file with its certificate.
	Token, RootCertBundle string
}

// StartRegistry starts a registry, which is stopped at the end of the test.
func StartRegistry(t testing.TB, o RegistryOptions) *Registry {
	t.Helper()
	folder := t.TempDir()
	r := &Registry{program: o.Program, folder: folder, Host: porttest.FreeAddress(t), log: filepath.Join(folder, "log")}
	config := fmt.Sprintf("version: 0.1\nlog: {accesslog: {disabled: false}, level: warn}\nstorage: {filesystem: {rootdirectory: %s}, delete: {enabled: true}}\nhttp:\n  addr: %s\n  secret: test\n", filepath.Join(folder, "data"), r.Host)
	if o.User != "" {
		var key string
		r.CAFile, key = certificate(t, folder)
		config += fmt.Sprintf("  tls: {certificate: %s, key: %s}\nauth: {htpasswd: {realm: test, path: %s}}\n", r.CAFile, key, filepath.Join(folder, "htpasswd"))
		hash, err := bcrypt.GenerateFromPassword([]byte(o.Password), bcrypt.MinCost)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, "htpasswd"), o.User+":"+string(hash)+"\n")
	}
	if o.Token != "" {
		config += fmt.Sprintf("auth: {token: {realm: %q, service: test, issuer: test, rootcertbundle: %s}}\n", o.Token, o.RootCertBundle)
	}
	write(t, filepath.Join(folder, "config.yaml"), config)
	t.Cleanup(r.Stop)
	r.Start(t)
	return r
}

// Start starts the registry again at the same address.
func (r *Registry) Start(t testing.TB) {
	t.Helper()
	log, err := os.OpenFile(r.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	r.process = exec.Command(r.program, "serve", filepath.Join(r.folder, "config.yaml"))
	r.process.Env = append(os.Environ(), "OTEL_TRACES_EXPORTER=none")
	r.process.Stdout, r.process.Stderr = log, log
	if err := r.process.Start(); err != nil {
		t.Fatal(err)
	}
	for range 6000 {
		if c, err := net.Dial("tcp", r.Host); err == nil {
			_ = c.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("the registry does not start: %s", r.text())
}

// Stop stops the registry; its content stays.
func (r *Registry) Stop() {
	if r.process != nil {
		_ = r.process.Process.Kill()
		_ = r.process.Wait()
		r.process = nil
	}
}

// Forget empties the log.
func (r *Registry) Forget() { _ = os.Truncate(r.log, 0) }

// Asked returns the requests since Forget, such as "HEAD /v2/a/manifests/1.0.0 200", except
// those that were refused with 401.
func (r *Registry) Asked() []string {
	var out []string
	for line := range strings.Lines(r.text()) {
		_, rest, ok := strings.Cut(line, `] "`)
		request, answer, closed := strings.Cut(rest, `" `)
		words, status := strings.Fields(request), strings.Fields(answer)
		if ok && closed && len(words) == 3 && len(status) > 0 && status[0] != "401" {
			path, _, _ := strings.Cut(words[1], "?")
			out = append(out, words[0]+" "+path+" "+status[0])
		}
	}
	return out
}

func (r *Registry) text() string {
	data, err := os.ReadFile(r.log)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func write(t testing.TB, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// certificate writes a self-signed certificate for 127.0.0.1 and its key to files.
func certificate(t testing.TB, folder string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	write(t, cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	write(t, key, string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})))
	return cert, key
}
