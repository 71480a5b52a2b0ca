// Command imagegen writes the container image of a release as an OCI image layout: the
// program, root certificates, and nothing else; no base image is pulled. The same
// programs give the same bytes.
//
//	imagegen -version 1.2.3 -commit 0123abc -created 2026-11-22T12:00:00Z [-program NAME] -out DIR amd64=FILE arm64=FILE
//
// The release pushes it with oras cp --from-oci-layout.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

func main() {
	var i image
	created := flag.String("created", "", "the time of the commit, RFC 3339")
	flag.StringVar(&i.version, "version", "", "the program's version")
	flag.StringVar(&i.commit, "commit", "", "the commit that it is built from")
	flag.StringVar(&i.program, "program", "kubectl-release", "the program's name")
	out := flag.String("out", "", "the folder of the layout, which must not exist")
	flag.Parse()
	var err error
	if i.created, err = time.Parse(time.RFC3339, *created); err == nil {
		err = i.write(*out, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "imagegen:", err)
		os.Exit(1)
	}
}

// image is the metadata of the image to write.
type image struct {
	program         string
	version, commit string
	created         time.Time
}

func (i image) annotations() map[string]string {
	const home = "https://github.com/kubectl-release/kubectl-release"
	return map[string]string{
		ocispec.AnnotationTitle: i.program, ocispec.AnnotationDescription: "deploy Helm charts: plan, then apply",
		ocispec.AnnotationVersion: i.version, ocispec.AnnotationRevision: i.commit, ocispec.AnnotationCreated: i.created.Format(time.RFC3339),
		ocispec.AnnotationSource: home, ocispec.AnnotationURL: home, ocispec.AnnotationLicenses: "Apache-2.0",
	}
}

// write writes the layout. programs are ARCH=FILE, built for Linux.
func (i image) write(dir string, programs []string) error {
	l, err := newLayout(dir)
	if err != nil {
		return err
	}
	index := ocispec.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex, Annotations: i.annotations()}
	for _, program := range programs {
		arch, file, ok := strings.Cut(program, "=")
		if !ok {
			return fmt.Errorf("%q is not ARCH=FILE", program)
		}
		manifest, err := i.platform(l, arch, file)
		if err != nil {
			return err
		}
		index.Manifests = append(index.Manifests, manifest)
	}
	all, err := l.putJSON(ocispec.MediaTypeImageIndex, index)
	if err != nil {
		return err
	}
	all.Annotations = map[string]string{ocispec.AnnotationRefName: i.version}
	return l.finish(all)
}

// platform stores the image for one architecture.
func (i image) platform(l layout, arch, file string) (ocispec.Descriptor, error) {
	program, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	packed, diffID, err := i.layer(program)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	layer, err := l.put(ocispec.MediaTypeImageLayerGzip, packed)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	platform := ocispec.Platform{OS: "linux", Architecture: arch}
	config, err := l.putJSON(ocispec.MediaTypeImageConfig, ocispec.Image{
		Created: &i.created, Platform: platform,
		Config: ocispec.ImageConfig{
			User: "65532:65532", Entrypoint: []string{"/usr/bin/" + i.program}, WorkingDir: "/work", Labels: i.annotations(),
			Env: []string{"PATH=/usr/bin", "HOME=/home/nonroot"},
		},
		RootFS: ocispec.RootFS{Type: "layers", DiffIDs: diffID},
	})
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	manifest, err := l.putJSON(ocispec.MediaTypeImageManifest, ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest,
		Config: config, Layers: []ocispec.Descriptor{layer}, Annotations: i.annotations(),
	})
	manifest.Platform = &platform
	return manifest, err
}
