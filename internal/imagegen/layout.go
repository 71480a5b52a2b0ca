package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// layout is a folder in the form that
// https://github.com/opencontainers/image-spec/blob/main/image-layout.md specifies.
type layout struct{ dir string }

func newLayout(dir string) (layout, error) {
	l := layout{dir}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return l, err
	}
	if err := os.MkdirAll(filepath.Join(dir, "blobs", "sha256"), 0o755); err != nil {
		return l, err
	}
	return l, l.file(ocispec.ImageLayoutFile, ocispec.ImageLayout{Version: ocispec.ImageLayoutVersion})
}

func (l layout) file(name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(l.dir, name), data, 0o644)
}

// put stores a blob.
func (l layout) put(mediaType string, data []byte) (ocispec.Descriptor, error) {
	d := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data))}
	return d, os.WriteFile(filepath.Join(l.dir, "blobs", "sha256", d.Digest.Encoded()), data, 0o644)
}

func (l layout) putJSON(mediaType string, v any) (ocispec.Descriptor, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	return l.put(mediaType, data)
}

// finish writes the layout's index, which names one image.
func (l layout) finish(named ocispec.Descriptor) error {
	return l.file(ocispec.ImageIndexFile, ocispec.Index{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex, Manifests: []ocispec.Descriptor{named},
	})
}

// layer returns the image's file system, compressed, and the digest of the uncompressed layer.
func (i image) layer(program []byte) ([]byte, []digest.Digest, error) {
	var files bytes.Buffer
	w := tar.NewWriter(&files)
	const nobody = 65532 // as in distroless images
	for _, e := range []struct {
		name string
		mode int64
		own  int
		data []byte
	}{
		{"usr/", 0o755, 0, nil},
		{"usr/bin/", 0o755, 0, nil},
		{"usr/bin/" + i.program, 0o755, 0, program},
		{"etc/", 0o755, 0, nil},
		{"etc/passwd", 0o644, 0, []byte("root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n")},
		{"etc/ssl/", 0o755, 0, nil},
		{"etc/ssl/certs/", 0o755, 0, nil},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, 0, roots()},
		{"home/", 0o755, 0, nil},
		{"home/nonroot/", 0o700, nobody, nil},
		{"work/", 0o755, nobody, nil},
		{"tmp/", 0o1777, 0, nil},
	} {
		h := &tar.Header{Name: e.name, Mode: e.mode, Uid: e.own, Gid: e.own, Size: int64(len(e.data)), ModTime: i.created, Typeflag: tar.TypeReg, Format: tar.FormatPAX}
		if e.data == nil {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, nil, err
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, nil, err
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(files.Bytes()) // a buffer never fails
	if err := z.Close(); err != nil {
		return nil, nil, err
	}
	return packed.Bytes(), []digest.Digest{digest.FromBytes(files.Bytes())}, nil
}

// roots returns the certificate authorities that Mozilla trusts without constraints, as PEM.
func roots() []byte {
	var out bytes.Buffer
	for r := range bundle.Roots() {
		if r.Constraint == nil {
			_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: r.Certificate})
		}
	}
	return out.Bytes()
}
