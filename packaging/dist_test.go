//go:build dist

package packaging

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/content/oci"
	"sigs.k8s.io/yaml"
)

const dist = "../dist"

// made returns the only file in dist/ that matches the pattern.
func made(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dist, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("dist/%s is %v, %v: run make dist", pattern, found, err)
	}
	return found[0]
}

func run(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	command := exec.Command(program, args...)
	command.Dir = dir
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Check 43: The tarballs for Helm install from a URL with both Helms, each from its own, and from a file
// with Helm 4, which checks their provenance.
func TestHelmInstallsTheTarball(t *testing.T) {
	name := fmt.Sprintf("release-%s-%s-%s.tgz", runtime.GOOS, runtime.GOARCH, pluginVersion(t))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/gzip") // Helm 3 accepts nothing else
		http.FileServer(http.Dir(dist)).ServeHTTP(w, r)
	}))
	defer server.Close()
	helms(t, func(t *testing.T, h helm) {
		if h.four() {
			h.install(server.URL + "/" + name)
		} else {
			h.install(server.URL + "/" + strings.Replace(name, "release-", "release-helm3-", 1))
		}
	})

	gnupg := filepath.Join(t.TempDir(), "g")
	if err := os.Mkdir(gnupg, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GNUPGHOME", gnupg)
	t.Setenv("GPG_KEY", "release@example.com")
	run(t, ".", "gpg", "--batch", "--quick-gen-key", "--passphrase", "", "Release <release@example.com>", "rsa3072", "sign", "never")
	run(t, ".", "gpg", "--batch", "--output", gnupg+"/public.gpg", "--export")
	t.Cleanup(func() { _ = exec.Command("gpgconf", "--kill", "gpg-agent").Run() })
	copied := filepath.Join(t.TempDir(), name)
	run(t, ".", "cp", made(t, name), copied)
	run(t, "..", "packaging/helm-prov.sh", copied, copied+".prov")
	helms(t, func(t *testing.T, h helm) {
		if !h.four() {
			return // it installs no tarballs from files
		}
		out, err := h.run("plugin", "install", copied, "--keyring", gnupg+"/public.gpg")
		if err != nil || !strings.Contains(out, "Plugin Hash Verified") || !strings.Contains(out, "is already installed") {
			t.Fatalf("a signed tarball: %v\n%s", err, out)
		}
		if out, err = h.run("release", "version", "--short"); err != nil || strings.TrimSpace(out) != pluginVersion(t) {
			t.Errorf("helm release version: %v, %s", err, out)
		}
	})
}

// Check 40: The krew manifest is named like its plugin and has the archives' checksums.
func TestKrewManifestIsNamedLikeItsPluginAndHasNoZeroSums(t *testing.T) {
	file := made(t, "krew/*.yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var krew struct {
		Metadata struct{ Name string }
		Spec     struct {
			Version, ShortDescription, Description, Homepage, Caveats string
			Platforms                                                 []struct{ URI, SHA256, Bin string }
		}
	}
	if err := yaml.Unmarshal(data, &krew); err != nil {
		t.Fatal(err)
	}
	version := pluginVersion(t)
	if krew.Metadata.Name+".yaml" != filepath.Base(file) || krew.Spec.Version != "v"+version || krew.Spec.Caveats == "" || krew.Spec.Description == "" || krew.Spec.Homepage == "" {
		t.Errorf("%s is of %+v", file, krew)
	}
	if n := len(krew.Spec.ShortDescription); n == 0 || n > 50 {
		t.Errorf("the short description has %d characters, want 1 to 50", n)
	}
	sums, err := os.ReadFile(made(t, "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range krew.Spec.Platforms {
		name := filepath.Base(p.URI)
		if !strings.Contains(string(sums), p.SHA256+"  "+name+"\n") || !strings.Contains(p.URI, "/v"+version+"/") || !strings.HasPrefix(p.Bin, "kubectl-release") {
			t.Errorf("%+v has not the sum of checksums.txt, or another version", p)
		}
	}
	if len(krew.Spec.Platforms) == 0 || strings.Contains(string(data), strings.Repeat("0", 64)) {
		t.Error("it has no platforms, or a sum that is none")
	}
}

// Check 39: goreleaser accepts its configuration file.
func TestGoreleaserTakesItsFile(t *testing.T) {
	found, err := filepath.Glob("../bin/goreleaser-v*")
	if err != nil || len(found) == 0 {
		t.Fatalf("there is no bin/goreleaser: %v: run make dist", err)
	}
	goreleaser, err := filepath.Abs(found[len(found)-1])
	if err != nil {
		t.Fatal(err)
	}
	run(t, "..", goreleaser, "check", "-q", "packaging/goreleaser.yaml")
}

// Check 41: A commit always gives the same archives: they have its time, and the program
// is the one that anybody gets who builds the commit, anywhere. Check 42: Built without
// flags, the program knows its commit, too.
func TestArchivesAreReproducible(t *testing.T) {
	archive := made(t, fmt.Sprintf("kubectl-release_*_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH))
	about := struct{ Commit, Date string }{}
	program := made(t, fmt.Sprintf("kubectl-release_%s_%s*/kubectl-release", runtime.GOOS, runtime.GOARCH))
	if err := json.Unmarshal([]byte(run(t, ".", program, "version", "-o", "json")), &about); err != nil {
		t.Fatal(err)
	}
	committed, err := time.Parse(time.RFC3339, about.Date)
	if err != nil || len(about.Commit) != 40 {
		t.Fatalf("the program says of itself %+v", about)
	}
	packed, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	for name, h := range files(t, packed) {
		if !h.ModTime.Equal(committed) {
			t.Errorf("%s is of %s, and the commit of %s", name, h.ModTime, committed)
		}
	}
	clone := filepath.Join(t.TempDir(), "elsewhere")
	run(t, "..", "git", "clone", "-q", ".", clone)
	run(t, clone, "git", "checkout", "-q", about.Commit)
	run(t, clone, "git", "tag", "-f", "v"+pluginVersion(t))
	run(t, clone, "sh", "-c", "CGO_ENABLED=0 go build -trimpath -buildvcs=true -tags=urfave_cli_no_docs -ldflags '-s -w -X github.com/kubectl-release/kubectl-release/internal/command.Version="+pluginVersion(t)+"' -o again .")
	sum := regexp.MustCompile(`^[0-9a-f]{64}`)
	if a, b := sum.FindString(run(t, ".", "sha256sum", program)), sum.FindString(run(t, clone, "sha256sum", "again")); a != b {
		t.Errorf("built again it is another program: %s, %s", a, b)
	}
	run(t, clone, "go", "build", "-buildvcs=true", "-o", "plain", ".")
	if out := run(t, clone, "./plain", "version", "-o", "json"); !strings.Contains(out, about.Commit) {
		t.Errorf("without -X it says %s, and is of %s", out, about.Commit)
	}
}

// files returns the files of a .tar.gz by name, reading it to the end.
func files(t *testing.T, packed io.Reader) map[string]*tar.Header {
	t.Helper()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*tar.Header{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF { //nolint:errorlint // it is never wrapped
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out[h.Name] = h
	}
}

// The packages contain what distributions' packages contain, and the program in the Debian package runs.
func TestPackagesHaveProgramManPageAndCompletions(t *testing.T) {
	dir := t.TempDir()
	run(t, ".", "dpkg", "--extract", made(t, "*_"+runtime.GOARCH+".deb"), dir)
	if out := run(t, dir, "usr/bin/kubectl-release", "version", "--short"); strings.TrimSpace(out) != pluginVersion(t) {
		t.Errorf("its program is of version %s", out)
	}
	packaged := map[string]string{
		"usr/share/man/man1/kubectl-release.1":                     ".SH NAME\nkubectl-release",
		"usr/share/bash-completion/completions/kubectl-release":    "__start_kubectl-release",
		"usr/share/zsh/vendor-completions/_kubectl-release":        "#compdef kubectl-release",
		"usr/share/fish/vendor_completions.d/kubectl-release.fish": "complete -c kubectl-release",
		"usr/bin/kubectl_complete-release":                         "__complete",
		"usr/share/doc/kubectl-release/copyright":                  "Apache License",
	}
	for name, says := range packaged {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(data), says) {
			t.Errorf("%s: %v; it has no %q", name, err, says)
		}
	}
	// An apk consists of several concatenated gzip streams, the last with the files.
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	packed, err := os.ReadFile(made(t, "*"+arch+".apk"))
	if err != nil {
		t.Fatal(err)
	}
	inside := inAPK(t, packed)
	// An rpm has its files' names in its header in plain text.
	header, err := os.ReadFile(made(t, "*"+arch+".rpm"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(header, []byte("\xed\xab\xee\xdb")) {
		t.Error("the rpm does not begin as one")
	}
	for name := range packaged {
		if inside[name] == nil {
			t.Errorf("the apk has no %s", name)
		}
		if !bytes.Contains(header, []byte("/"+filepath.Dir(name)+"/")) || !bytes.Contains(header, []byte(filepath.Base(name))) {
			t.Errorf("the rpm has no %s", name)
		}
	}
	if program := inside["usr/bin/kubectl-release"]; program == nil || program.Mode&0o111 == 0 {
		t.Errorf("the apk's program can't be run: %+v", program)
	}
}

// inAPK returns the files of an Alpine package by name.
func inAPK(t *testing.T, packed []byte) map[string]*tar.Header {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*tar.Header{}
	for r := tar.NewReader(z); ; { // only the last of its archives has an end marker
		h, err := r.Next()
		if err == io.EOF { //nolint:errorlint // it is never wrapped
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out[h.Name] = h
	}
}

// Each program has an SPDX SBOM that names what it is built from, and whose checksum is in checksums.txt.
func TestEachProgramHasAnSBOM(t *testing.T) {
	for _, program := range []string{"kubectl-release", "kubectl-release-controller"} {
		file := made(t, fmt.Sprintf("%s_%s_%s_%s.spdx.json", program, pluginVersion(t), runtime.GOOS, runtime.GOARCH))
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var about struct {
			SPDXVersion string
			Packages    []struct{ Name, VersionInfo string }
		}
		if err := json.Unmarshal(data, &about); err != nil || about.SPDXVersion != "SPDX-2.3" || len(about.Packages) < 20 || about.Packages[0].Name != program || len(about.Packages[0].VersionInfo) != 40 {
			t.Errorf("%s: %v, %.300s", file, err, data)
		}
		modules := run(t, ".", "go", "version", "-m", made(t, fmt.Sprintf("%s_%s_%s*/%s", program, runtime.GOOS, runtime.GOARCH, program)))
		if n := strings.Count(modules, "\n\tdep\t"); n != len(about.Packages)-2 { // apart from itself and the standard library
			t.Errorf("%s: %d packages, and the program has %d modules", file, len(about.Packages), n)
		}
	}
	sums, err := os.ReadFile(made(t, "checksums.txt"))
	if err != nil || !strings.Contains(string(sums), ".spdx.json\n") {
		t.Errorf("the sums: %v\n%s", err, sums)
	}
}

// The image is an OCI layout with the program for each architecture, which runs as non-root and
// trusts what Mozilla trusts.
func TestImageIsAnOCILayout(t *testing.T) {
	ctx := context.Background()
	store, err := oci.NewFromFS(ctx, os.DirFS(filepath.Join(dist, "image")))
	if err != nil {
		t.Fatal(err)
	}
	root, err := store.Resolve(ctx, pluginVersion(t))
	if err != nil {
		t.Fatal(err)
	}
	read := func(d ocispec.Descriptor, into any) []byte {
		data, err := content.FetchAll(ctx, store, d) // it checks the digest
		if err != nil {
			t.Fatal(err)
		}
		if into != nil {
			if err := json.Unmarshal(data, into); err != nil {
				t.Fatal(err)
			}
		}
		return data
	}
	var index ocispec.Index
	read(root, &index)
	if len(index.Manifests) == 0 {
		t.Fatal("it is for no architecture")
	}
	for _, d := range index.Manifests {
		var manifest ocispec.Manifest
		var config ocispec.Image
		read(d, &manifest)
		read(manifest.Config, &config)
		found := files(t, bytes.NewReader(read(manifest.Layers[0], nil)))
		program := found[strings.TrimPrefix(config.Config.Entrypoint[0], "/")]
		if program == nil || program.Mode != 0o755 || found["etc/ssl/certs/ca-certificates.crt"].Size < 100_000 || config.Config.User != "65532:65532" || config.Architecture != d.Platform.Architecture {
			t.Errorf("%s: %+v, %v", d.Platform.Architecture, config.Config, found)
		}
	}
}
