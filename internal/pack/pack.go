// Package pack makes the archive of a chart: from the same files it is the same, byte
// for byte, whoever packs them, wherever and whenever.
//
// It is pure: it reads no files and no clock.
package pack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// Options change what is packed.
type Options struct {
	// Version and AppVersion replace those in Chart.yaml; "" leaves them.
	Version, AppVersion string
	// Time is the modification time of every file in the archive.
	Time time.Time
}

// metadata is the file that describes a chart.
const metadata = "Chart.yaml"

// Archive packs a chart as it was read, subcharts included, below a folder of its name.
// Chart.yaml is the first file, as written, comments and all, unless its version is
// replaced; the others follow in the order of their names. Names in charts/ that begin
// with a dot or _ are left out, as in Helm 4.3.1. Errors: a dependency is missing; a
// values.schema.json is no JSON, as in Helm; the new version can't be put into Chart.yaml.
func Archive(c *chart.Chart, o Options) ([]byte, error) {
	if missing := Missing(c); len(missing) > 0 {
		return nil, fmt.Errorf("chart %s: in Chart.yaml, but not in charts/: %s", c.Name(), strings.Join(missing, ", "))
	}
	if err := checkSchemas(c); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	tw := tar.NewWriter(zw)
	for _, f := range files(c) {
		data, err := o.content(f)
		if err != nil {
			return nil, fmt.Errorf("chart %s: %w", c.Name(), err)
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: c.Name() + "/" + f.Name, Mode: 0o644, Size: int64(len(data)), ModTime: o.Time}
		if err := tw.WriteHeader(h); err != nil {
			return nil, fmt.Errorf("pack %s: %w", f.Name, err)
		}
		if _, err := tw.Write(data); err != nil {
			return nil, fmt.Errorf("pack %s: %w", f.Name, err)
		}
	}
	if err := tw.Close(); err != nil {
		return nil, err
	}
	if err := zw.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// checkSchemas returns an error if a schema of the chart or a subchart is no JSON (Helm 4.3.1,
// pkg/chart/v2/util/save.go, writeTarContents).
func checkSchemas(c *chart.Chart) error {
	if c.Schema != nil && !json.Valid(c.Schema) {
		return fmt.Errorf("chart %s: values.schema.json is not valid JSON", c.FullPath())
	}
	for _, sub := range c.Dependencies() {
		if err := checkSchemas(sub); err != nil {
			return err
		}
	}
	return nil
}

// Missing returns the dependencies in Chart.yaml that are not in charts/, by name.
func Missing(c *chart.Chart) []string {
	var out []string
	for _, d := range c.Metadata.Dependencies {
		if !slices.ContainsFunc(c.Dependencies(), func(sub *chart.Chart) bool { return sub.Name() == d.Name }) {
			out = append(out, d.Name)
		}
	}
	return out
}

// files returns the files that are packed, in order.
func files(c *chart.Chart) []*chart.File {
	var out []*chart.File
	for _, f := range c.Raw {
		if below, ok := strings.CutPrefix(f.Name, "charts/"); !ok || below[0] != '.' && below[0] != '_' {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b *chart.File) int {
		if (a.Name == metadata) != (b.Name == metadata) {
			if a.Name == metadata {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

// content returns the content of a file, with another version where one is wanted.
func (o Options) content(f *chart.File) ([]byte, error) {
	if f.Name != metadata || o.Version == "" && o.AppVersion == "" {
		return f.Data, nil
	}
	fields := map[string]any{}
	if err := yaml.Unmarshal(f.Data, &fields); err != nil {
		return nil, fmt.Errorf("%s: %w", metadata, err)
	}
	if o.Version != "" {
		fields["version"] = o.Version
	}
	if o.AppVersion != "" {
		fields["appVersion"] = o.AppVersion
	}
	return yaml.Marshal(fields)
}
