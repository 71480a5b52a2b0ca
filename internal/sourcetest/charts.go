package sourcetest

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// Archive packs files into the .tgz of a chart, in a folder with the chart's name.
func Archive(t testing.TB, name string, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	tw := tar.NewWriter(zw)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		h := &tar.Header{Name: name + "/" + file, Mode: 0o644, Size: int64(len(files[file])), Typeflag: tar.TypeReg}
		if err := tw.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write([]byte(files[file])); err != nil {
			t.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Chart returns the archive of a small chart that renders one ConfigMap with its version and a
// text.
func Chart(t testing.TB, name, version, text string) []byte {
	t.Helper()
	return Archive(t, name, map[string]string{
		"Chart.yaml":        fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\n", name, version),
		"values.yaml":       fmt.Sprintf("text: %q\n", text),
		"templates/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-{{ .Chart.Name }}\ndata:\n  version: {{ .Chart.Version | quote }}\n  text: {{ .Values.text | quote }}\n",
	})
}

// Entry is a chart version in an index.
type Entry struct {
	Name, Version, URL, Digest, Description string
	// Created is "2026-01-01T00:00:00Z" if it is "".
	Created string
}

// Index returns an index.yaml in the layout that Helm writes.
func Index(entries ...Entry) []byte {
	var b bytes.Buffer
	b.WriteString("apiVersion: v1\nentries:\n")
	byName := map[string][]Entry{}
	for _, e := range entries {
		byName[e.Name] = append(byName[e.Name], e)
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		fmt.Fprintf(&b, "  %s:\n", name)
		for _, e := range byName[name] {
			fmt.Fprintf(&b, "  - apiVersion: v2\n    created: %q\n    description: %q\n    digest: %q\n    name: %s\n    urls:\n    - %s\n    version: %s\n", cmp.Or(e.Created, "2026-01-01T00:00:00Z"), e.Description, e.Digest, e.Name, e.URL, e.Version)
		}
	}
	b.WriteString("generated: \"2026-01-01T00:00:00Z\"\n")
	return b.Bytes()
}

// Many returns entries of a kilobyte each, as in large public repositories: fifteen
// versions of chart-0000, of chart-0001, and so on. Their archives do not exist.
func Many(entries int) []Entry {
	out := make([]Entry, entries)
	for i := range out {
		name, version := fmt.Sprintf("chart-%04d", i/15), fmt.Sprintf("1.%d.0", i%15)
		out[i] = Entry{
			Name: name, Version: version, URL: "https://charts.example.com/" + name + "-" + version + ".tgz",
			Digest: fmt.Sprintf("%064x", i), Description: strings.Repeat("long ", 150),
		}
	}
	return out
}

// Publish puts charts, given by name and versions, into a repository, with an index of them.
func (r *Repository) Publish(t testing.TB, charts map[string][]string) {
	t.Helper()
	var entries []Entry
	for name, versions := range charts {
		for _, version := range versions {
			file := name + "-" + version + ".tgz"
			content := Chart(t, name, version, "")
			r.Put("/"+file, content)
			entries = append(entries, Entry{Name: name, Version: version, URL: file, Digest: Digest(content)})
		}
	}
	r.Put("/index.yaml", Index(entries...))
}

// PutImage makes the repository answer like a registry with a chart's archive at a tag. Unlike
// in a real one, the archive may contain anything. path is for example "charts/alpha".
func (r *Repository) PutImage(t testing.TB, path, tag string, archive []byte) {
	t.Helper()
	config := []byte("{}")
	manifest, err := json.Marshal(ocispec.Manifest{
		Config: ocispec.Descriptor{MediaType: "application/vnd.cncf.helm.config.v1+json", Digest: digest.FromBytes(config), Size: int64(len(config))},
		Layers: []ocispec.Descriptor{{MediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", Digest: digest.FromBytes(archive), Size: int64(len(archive))}},
	})
	if err != nil {
		t.Fatal(err)
	}
	at := "/v2/" + path
	r.Put(at+"/manifests/"+tag, manifest)
	r.Put(at+"/manifests/sha256:"+Digest(manifest), manifest)
	r.Put(at+"/blobs/sha256:"+Digest(archive), archive)
}

// Digest returns the SHA-256 of data in hex, as in Helm's index.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
