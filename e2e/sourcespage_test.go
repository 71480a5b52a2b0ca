//go:build cluster

package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// TestSourcesPage runs every command that docs/sources.md shows, in order, with a
// repository and a registry on this machine instead of those of the page.
func TestSourcesPage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(inTree("docs", "sources.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands := shown(string(text))
	if len(commands) < 10 {
		t.Fatalf("the page shows %q", commands)
	}
	p := newPinning(t)
	server := sourcetest.Serve(t, sourcetest.Options{})
	server.Publish(t, map[string][]string{"web": {"1.0.0", "1.4.2", "2.0.0"}, "alpha": {"1.4.2"}})
	here := strings.NewReplacer("https://charts.example.com", server.URL, "ghcr.io", p.registry.Host)
	namespace, path := cluster.Namespace(t), pluginFolder(t)
	program := []byte("#!/bin/sh\n") // no image can be pulled here
	if err := os.WriteFile(filepath.Join(path, "docker"), program, 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(code int, line string) {
		t.Helper()
		script := "export PATH=" + path + ":$PATH HELM_NAMESPACE=" + namespace + " HELM_CACHE_HOME=" + p.dir + "/cache HELM_CONFIG_HOME=" + p.dir + "/config; cd " + p.dir + "; " + here.Replace(line)
		if r := cluster.Run(t, "bash", "", "-c", script); r.ExitCode != code {
			t.Fatalf("$ %s\nexit code %d, want %d\n%s%s", line, r.ExitCode, code, r.Stdout, r.Stderr)
		}
	}
	public, secret := keysOf(t, "CI", "ci@example.com")
	clustertest.WriteFiles(t, p.dir, map[string]string{
		"public.gpg": public, "secret.gpg": secret, "cosign.pub": cosignKey(t),
		"db/Chart.yaml": "apiVersion: v2\nname: db\nversion: 1.0.0\n", "prod.yaml": "{}",
		"token":                 "secret",
		"web/Chart.yaml":        here.Replace("apiVersion: v2\nname: web\nversion: 1.4.2\ndependencies: [{name: alpha, version: ^1, repository: 'https://charts.example.com'}]\n"),
		"web/templates/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n",
		"other/web-1.4.2.tgz":   string(sourcetest.Chart(t, "web", "1.4.2", "other")),
	})
	run(0, "kubectl release dependency update ./web && kubectl release package ./web")
	push := func(file string) {
		t.Helper()
		run(0, "kubectl release push "+filepath.Join(p.dir, file)+" oci://ghcr.io/acme/charts --force")
	}
	push("web-1.4.2.tgz")
	for _, line := range commands {
		if strings.HasPrefix(line, "kubectl release apply") {
			// As the page says next: somebody has moved the tag.
			push("other/web-1.4.2.tgz")
			run(4, line)
			push("web-1.4.2.tgz")
			continue
		}
		if strings.Contains(line, "--verify-key") { // it is not signed with cosign here; TestCheck54 does that
			run(8, line)
			continue
		}
		if strings.Contains(line, "--trusted-root") { // there is no trusted root here; TestCheck54Keyless has one
			run(1, line)
			continue
		}
		run(0, line)
	}
}

// keysOf generates a person's keys for a test, in the format in which gpg exports them.
func keysOf(t *testing.T, name, address string) (public, secret string) {
	t.Helper()
	entity, err := openpgp.NewEntity(name, "", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	var both [2]strings.Builder
	if err := errors.Join(entity.Serialize(&both[0]), entity.SerializePrivate(&both[1], nil)); err != nil {
		t.Fatal(err)
	}
	return both[0].String(), both[1].String()
}

// cosignKey returns a public key as cosign writes it.
func cosignKey(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}
