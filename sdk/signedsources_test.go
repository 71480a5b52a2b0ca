package sdk

import (
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/signature"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// A chart for which sources.yaml demands a signature by a key is loaded if it has one that is valid
// today, and not with a key that had expired long ago.
func TestSignedSources(t *testing.T) {
	then := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, lives := range map[string]time.Duration{"for ever": 0, "a day": 24 * time.Hour} {
		anna, err := openpgp.NewEntity("Anna", "", "anna@example.com", &packet.Config{
			Algorithm: packet.PubKeyAlgoEdDSA, Time: func() time.Time { return then }, KeyLifetimeSecs: uint32(lives.Seconds()),
		})
		fine(t, err)
		var public, secret bytes.Buffer
		fine(t, anna.SerializePrivateWithoutSigning(&secret, nil))
		fine(t, anna.Serialize(&public))
		ring, err := signature.ParseKeyring(secret.Bytes())
		fine(t, err)
		key, err := ring.Secret("Anna")
		fine(t, err)
		archive := sourcetest.Chart(t, "alpha", "1.0.0", "")
		provenance, err := key.SignArchive(&chart.Metadata{APIVersion: "v2", Name: "alpha", Version: "1.0.0"},
			signature.Archive{Name: "alpha-1.0.0.tgz", Digest: "sha256:" + sourcetest.Digest(archive)}, then, rand.Reader)
		fine(t, err)
		server := sourcetest.Serve(t, sourcetest.Options{})
		server.Put("/alpha-1.0.0.tgz", archive)
		server.Put("/alpha-1.0.0.tgz.prov", provenance)

		home := t.TempDir()
		settings := filepath.Join(home, ".config", "helm", "kubectl-release")
		fine(t, os.MkdirAll(settings, 0o755))
		fine(t, os.WriteFile(filepath.Join(settings, "ring.gpg"), public.Bytes(), 0o644))
		fine(t, os.WriteFile(filepath.Join(settings, "sources.yaml"), []byte("verify: [{prefix: \""+server.URL+"\", keyring: ring.gpg}]\n"), 0o644))
		paths := map[string]string{"HELM_CONFIG_HOME": filepath.Join(home, ".config", "helm")}
		sources, err := FindSources(func(name string) (string, bool) { v, ok := paths[name]; return v, ok }, home)
		fine(t, err)
		server.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: "1.4.2", URL: "alpha-1.0.0.tgz"}))
		if _, err := sources.LoadChart(t.Context(), "alpha", ChartOptions{Repo: server.URL}); lives == 0 && (err == nil || !strings.Contains(err.Error(), "is signed as chart alpha 1.0.0, not as alpha 1.4.2")) {
			t.Errorf("an older chart passed off as newer: %v", err)
		}
		loaded, err := sources.LoadChart(t.Context(), server.URL+"/alpha-1.0.0.tgz", ChartOptions{})
		switch {
		case lives == 0 && (err != nil || loaded.pin.Signature == nil):
			t.Errorf("%s: %v", name, err)
		case lives > 0 && (err == nil || !strings.Contains(err.Error(), "expired")):
			t.Errorf("%s: %v", name, err)
		}
	}
}

func fine(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
