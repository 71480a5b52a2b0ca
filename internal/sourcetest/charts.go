package sourcetest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"testing"
)

// Archive packs files into the .tgz of a chart: their names are below a folder of the
// chart's name.
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

// Chart is a small chart that renders one ConfigMap with its name, version and a text.
func Chart(t testing.TB, name, version, text string) []byte {
	t.Helper()
	return Archive(t, name, map[string]string{
		"Chart.yaml":        fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\n", name, version),
		"values.yaml":       fmt.Sprintf("text: %q\n", text),
		"templates/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-{{ .Chart.Name }}\ndata:\n  version: {{ .Chart.Version | quote }}\n  text: {{ .Values.text | quote }}\n",
	})
}

// Entry is a chart of an index.
type Entry struct {
	Name, Version, URL, Digest, Description string
}

// Index is an index.yaml in the form that Helm writes.
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
			fmt.Fprintf(&b, "  - apiVersion: v2\n    created: \"2026-01-01T00:00:00Z\"\n    description: %q\n    digest: %q\n    name: %s\n    urls:\n    - %s\n    version: %s\n", e.Description, e.Digest, e.Name, e.URL, e.Version)
		}
	}
	b.WriteString("generated: \"2026-01-01T00:00:00Z\"\n")
	return b.Bytes()
}

// Publish puts charts into a repository, by name and versions, with an index of them.
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

// Digest is the SHA-256 of bytes in hex, as Helm's index has it.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
