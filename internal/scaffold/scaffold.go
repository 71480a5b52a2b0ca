// Package scaffold makes the files of a new chart, from a built-in chart or from a starter.
//
// It is pure: it writes no files.
package scaffold

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// placeholder stands for the chart's name in files.
const placeholder = "<CHARTNAME>"

const (
	metadata = "Chart.yaml"
	values   = "values.yaml"
)

// maxName is the maximum length of a chart's name in bytes, as in Helm 4.3.1
// (pkg/chart/v2/util/create.go, maxChartNameLength).
const maxName = 250

var names = regexp.MustCompile(`^[a-zA-Z0-9._-]+$`)

// own is a chart that renders the same objects as the one that Helm's create makes (Helm 4.3.1,
// pkg/chart/v2/util/create.go, Create).
//
//go:embed all:chart
var own embed.FS

//go:embed values.schema.json
var ownSchema []byte

// CheckName returns an error if a new chart can't have the name.
func CheckName(name string) error {
	switch {
	case strings.Trim(name, ".") == "" || !names.MatchString(name):
		return fmt.Errorf("%q is not a valid chart name: use letters and digits, with . _ - between them", name)
	case len(name) > maxName:
		return fmt.Errorf("the chart's name has %d characters, but may have at most %d", len(name), maxName)
	}
	return nil
}

// Chart returns the files of a new chart with a Deployment, a Service and what goes
// with them. The name must have passed CheckName.
func Chart(name string) ([]*chart.File, error) {
	var out []*chart.File
	err := fs.WalkDir(own, "chart", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := own.ReadFile(path)
		out = append(out, &chart.File{Name: strings.TrimPrefix(path, "chart/"), Data: named(data, name)})
		return err
	})
	return out, err
}

// Schema returns the values schema of a chart made by Chart.
func Schema(name string) *chart.File {
	return &chart.File{Name: "values.schema.json", Data: named(ownSchema, name)}
}

// Starter returns the files of a new chart made from a starter's files, as in Helm 4.3.1
// (pkg/chart/v2/util/create.go, CreateFrom): in values.yaml and templates the name replaces
// <CHARTNAME>, and Chart.yaml is a new one without dependencies, so there is no lock. Errors: the
// files are not a chart.
func Starter(name string, files []*chart.File) ([]*chart.File, error) {
	var out []*chart.File
	found := false
	for _, f := range files {
		switch {
		case f.Name == metadata:
			found = true
		case f.Name == "Chart.lock" || f.Name == "requirements.yaml" || f.Name == "requirements.lock":
		case f.Name == values || strings.HasPrefix(f.Name, "templates/"):
			out = append(out, &chart.File{Name: f.Name, Data: named(f.Data, name)})
		default:
			out = append(out, f)
		}
	}
	if !found {
		return nil, errors.New("it has no " + metadata)
	}
	text := fmt.Sprintf("apiVersion: v2\nname: %q\ndescription: A Helm chart for Kubernetes\ntype: application\nversion: 0.1.0\nappVersion: 0.1.0\n", name)
	return append(out, &chart.File{Name: metadata, Data: []byte(text)}), nil
}

func named(text []byte, name string) []byte {
	return bytes.ReplaceAll(text, []byte(placeholder), []byte(name))
}
