//go:build cluster

package controller_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/content/oci"
)

// `make controller-image` makes an OCI layout of the program, root certificates, the names of users and
// nothing else. If root runs this test, the program in it runs with nothing else around it, and as an
// unprivileged user.
func TestImage(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "image")
	if out, err := exec.Command("make", "-s", "-C", filepath.Join("..", ".."), "controller-image", "IMAGE="+dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	store, err := oci.NewFromFS(t.Context(), os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	read := func(d ocispec.Descriptor, into any) []byte {
		t.Helper()
		data, err := content.FetchAll(t.Context(), store, d) // this checks the digest
		if err == nil && into != nil {
			err = json.Unmarshal(data, into)
		}
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	var layout, index ocispec.Index
	data, err := os.ReadFile(filepath.Join(dir, ocispec.ImageIndexFile))
	if err == nil {
		err = json.Unmarshal(data, &layout)
	}
	if err != nil || len(layout.Manifests) != 1 {
		t.Fatal(err, string(data))
	}
	read(layout.Manifests[0], &index)
	var manifest ocispec.Manifest
	var config ocispec.Image
	read(index.Manifests[0], &manifest)
	read(manifest.Config, &config)
	if c := config.Config; c.User != "65532:65532" || len(c.Entrypoint) != 1 || len(manifest.Layers) != 1 {
		t.Fatalf("%+v of %d layers", c, len(manifest.Layers))
	}
	root := t.TempDir()
	unpack(t, root, read(manifest.Layers[0], nil))
	var files []string
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, strings.TrimPrefix(path, root))
		}
		return err
	})
	if want := []string{"/etc/passwd", "/etc/ssl/certs/ca-certificates.crt", config.Config.Entrypoint[0]}; err != nil || !slices.Equal(files, want) {
		t.Errorf("the image has the files %q, want %q: %v", files, want, err)
	}
	command := exec.Command(config.Config.Entrypoint[0], "--help")
	if os.Getuid() == 0 {
		if err := os.Chmod(root, 0o755); err != nil {
			t.Fatal(err)
		}
		command.Dir, command.Env = "/", config.Config.Env
		command.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	} else {
		command.Path = filepath.Join(root, config.Config.Entrypoint[0])
	}
	if out, err := command.CombinedOutput(); err != nil || !strings.Contains(string(out), "--watch-label-selector") {
		t.Errorf("%v\n%s", err, out)
	}
}

// unpack extracts the files of a layer into a folder.
func unpack(t testing.TB, root string, packed []byte) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(root, filepath.Clean("/"+h.Name))
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o755)
		} else {
			data, failed := io.ReadAll(r)
			err = errors.Join(failed, os.WriteFile(path, data, h.FileInfo().Mode()))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
