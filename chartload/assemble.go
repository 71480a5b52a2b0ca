package chartload

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/values"
)

var errNesting = fmt.Errorf("subcharts nest deeper than %d levels", maxNesting)

// assemble builds a chart from its files, whose names are relative to it. where is its path in the
// chart tree, depth the number of charts that contain it.
func (l *loader) assemble(files []*chart.File, where string, depth int) (*chart.Chart, error) {
	if depth > maxNesting {
		return nil, errNesting
	}
	c := &chart.Chart{Raw: files}
	if err := l.metadata(c, files, where); err != nil {
		return nil, err
	}
	if v := c.Metadata.APIVersion; depth == 0 && v != chart.APIVersionV1 && v != chart.APIVersionV2 {
		return nil, fmt.Errorf("Chart.yaml: apiVersion %q is not supported; v1 and v2 are", v)
	}
	subcharts := map[string][]*chart.File{}
	for _, f := range files {
		if err := l.file(c, f, where); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		if rest, ok := strings.CutPrefix(f.Name, "charts/"); ok && path.Ext(f.Name) != ".prov" {
			name, _, _ := strings.Cut(rest, "/")
			subcharts[name] = append(subcharts[name], f)
		}
	}
	if err := c.Metadata.Validate(); err != nil {
		return nil, fmt.Errorf("Chart.yaml: %w", err)
	}
	if err := l.subcharts(c, subcharts, where, depth); err != nil {
		return nil, err
	}
	return c, nil
}

// metadata reads Chart.yaml, which may be anywhere in the list.
func (l *loader) metadata(c *chart.Chart, files []*chart.File, where string) error {
	for _, f := range files {
		if f.Name != "Chart.yaml" {
			continue
		}
		c.Metadata = &chart.Metadata{}
		c.ModTime = f.ModTime
		if err := l.decode(f, c.Metadata, where); err != nil {
			return fmt.Errorf("Chart.yaml: %w", err)
		}
		// Helm 2 charts had no apiVersion.
		if c.Metadata.APIVersion == "" {
			c.Metadata.APIVersion = chart.APIVersionV1
		}
	}
	if c.Metadata == nil {
		return errors.New("Chart.yaml is missing")
	}
	return nil
}

// file adds one file to the field of the chart where it belongs.
func (l *loader) file(c *chart.Chart, f *chart.File, where string) error {
	v1 := c.Metadata.APIVersion == chart.APIVersionV1
	switch {
	case f.Name == "Chart.yaml":
	case f.Name == valuesName:
		return l.values(c, f, where)
	case f.Name == "values.schema.json":
		c.Schema, c.SchemaModTime = f.Data, f.ModTime
	case f.Name == "Chart.lock":
		return l.lock(c, f, where)
	case f.Name == "requirements.lock":
		if v1 {
			c.Files = append(c.Files, f)
		}
		return l.lock(c, f, where)
	case f.Name == "requirements.yaml":
		if v1 {
			c.Files = append(c.Files, f)
		} else {
			l.warn(path.Join(where, f.Name), "since apiVersion v2 dependencies belong in Chart.yaml")
		}
		return l.decode(f, c.Metadata, where)
	case strings.HasPrefix(f.Name, "templates/"):
		c.Templates = append(c.Templates, f)
	case strings.HasPrefix(f.Name, "charts/") && path.Ext(f.Name) != ".prov":
	default:
		c.Files = append(c.Files, f)
	}
	return nil
}

func (l *loader) lock(c *chart.Chart, f *chart.File, where string) error {
	c.Lock = &chart.Lock{}
	return l.decode(f, &c.Lock, where)
}

// decode reads YAML into a struct. Numbers and booleans become strings where the struct has strings.
func (l *loader) decode(f *chart.File, into any, where string) error {
	if err := l.budget.yaml(f.Data); err != nil {
		return err
	}
	warnings, err := values.CheckYAML(f.Data, path.Join(where, f.Name))
	if err != nil {
		return err
	}
	l.warnings = append(l.warnings, warnings...)
	return yaml.Unmarshal(f.Data, into)
}
