package command

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/signature"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// cosigned puts an archive on a server, with its signature beside it, and returns the file of the key.
func cosigned(t *testing.T, server *sourcetest.Repository, path string, archive []byte) string {
	t.Helper()
	key, file := sourcetest.CosignKey(t)
	sum := sha256.Sum256(archive)
	signed, err := ecdsa.SignASN1(rand.Reader, key, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := json.Marshal(map[string]any{"mediaType": signature.BundleType + ".v0.3+json", "messageSignature": map[string]any{"signature": signed}})
	if err != nil {
		t.Fatal(err)
	}
	server.Put(path, archive)
	server.Put(path+".sigstore.json", bundle)
	return file
}

// A signature does not cover the version under which an index has a chart: an older one that is passed
// off as newer is refused where it has to be signed, and otherwise comes with a warning.
func TestAnOlderChartPassedOffAsNewer(t *testing.T) {
	d, server := atDesk(t), sourcetest.Serve(t, sourcetest.Options{})
	key := cosigned(t, server, "/alpha-1.0.0.tgz", sourcetest.Chart(t, "alpha", "1.0.0", ""))
	publish := func(version string) {
		server.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: version, URL: "alpha-1.0.0.tgz"}))
	}
	set := func(version string) {
		d.file("releases.yaml", fmt.Sprintf("version: 1\ndefaults: {namespace: shop}\nreleases:\n- {name: one, chart: {repo: %q, name: alpha, version: %s}}\n", server.URL, version))
	}
	commands := func(version string) []string {
		chart := " alpha --repo " + server.URL + " --version " + version
		return []string{"template web" + chart, "plan web" + chart, "show chart" + chart, "pull" + chart, "verify" + chart, "chart bundle alpha --repo " + server.URL + " -d bundle"}
	}
	publish("1.4.2")
	set("1.4.2")
	for _, line := range commands("1.4.2") {
		a := d.types(line + " --verify-key " + key)
		if a.code != exitUntrusted || !strings.Contains(a.err, "is signed as chart alpha 1.0.0, not as alpha 1.4.2: it is not used") {
			t.Errorf("%s: exit code %d\n%s%s", line, a.code, a.out, a.err)
		}
		if strings.HasPrefix(line, "verify") {
			continue
		}
		if a := d.must(line); !strings.Contains(a.err, "it holds chart alpha 1.0.0, not alpha 1.4.2") {
			t.Errorf("%s: no warning\n%s", line, a.err)
		}
		if err := os.RemoveAll("alpha-1.0.0.tgz"); err != nil {
			t.Error(err)
		}
	}
	if a := d.types("plan many releases.yaml --verify-key " + key); a.code == exitDone || !strings.Contains(a.out+a.err, "not as alpha 1.4.2") {
		t.Errorf("plan many: exit code %d\n%s%s", a.code, a.out, a.err)
	}
	publish("1.0.0")
	set("1.0.0")
	for _, line := range append(commands("1.0.0"), "plan many releases.yaml") {
		if a := d.must(line + " --verify-key " + key); strings.Contains(a.err, "it holds chart") {
			t.Errorf("%s:\n%s", line, a.err)
		}
	}
}

// What is signed and is no chart is not the chart that was asked for.
func TestSignedButNoChart(t *testing.T) {
	d, server := atDesk(t), sourcetest.Serve(t, sourcetest.Options{})
	key := cosigned(t, server, "/alpha-1.0.0.tgz", sourcetest.Archive(t, "alpha", map[string]string{"values.yaml": "a: 1\n"}))
	server.Put("/index.yaml", sourcetest.Index(sourcetest.Entry{Name: "alpha", Version: "1.0.0", URL: "alpha-1.0.0.tgz"}))
	if a := d.types("verify alpha --repo " + server.URL + " --verify-key " + key); a.code != exitError || !strings.Contains(a.err, "Chart.yaml is missing") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
	d.must("verify " + server.URL + "/alpha-1.0.0.tgz --verify-key " + key)
}
