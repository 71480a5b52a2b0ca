//go:build cluster

package flux_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/fluxtest"
	"github.com/kubectl-release/kubectl-release/internal/values"
)

// commit applies what source-controller made of a step's commits: the sources with the recorded
// artifacts.
func (r *replay) commit(step *fluxtest.Step) {
	if _, err := os.Stat(filepath.Join(r.trace.Dir, "chart/commit-1")); err != nil {
		return
	}
	for len(r.commits) < r.commitsBy(step) {
		r.commits = append(r.commits, filepath.Join(r.trace.Dir, fmt.Sprintf("chart/commit-%d", len(r.commits)+1)))
	}
	for _, s := range step.Sources {
		put := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": flux.SourceGroup + "/v1", "kind": s.Kind, "spec": s.Object["spec"],
			"metadata": map[string]any{"name": s.Metadata.Name, "namespace": s.Metadata.Namespace},
		}}
		gvr := schema.GroupVersionResource{Group: flux.SourceGroup, Version: "v1", Resource: strings.ToLower(strings.Replace(s.Kind, "Repository", "Repositorie", 1)) + "s"}
		in, o := r.objects.Resource(gvr).Namespace(s.Metadata.Namespace), metav1.ApplyOptions{FieldManager: "source-controller", Force: true}
		if _, err := in.Apply(context.Background(), s.Metadata.Name, put, o); err != nil {
			r.t.Fatal(err)
		}
		put.Object["status"] = s.Object["status"]
		r.publish(put)
		if _, err := in.ApplyStatus(context.Background(), s.Metadata.Name, put, o); err != nil {
			r.t.Fatal(err)
		}
	}
}

// commitsBy counts the commits up to a step.
func (r *replay) commitsBy(step *fluxtest.Step) int {
	n := 1
	for _, s := range r.trace.Steps {
		n += strings.Count(s.Applied, "# git commit and push")
		if s == step {
			break
		}
	}
	return n
}

// packaged returns the chart of the commits, as source-controller packages it: with the artifact's
// version and the values of valuesFiles.
func (r *replay) packaged(s *flux.Source) (*chart.Chart, error) {
	whole := r.t.TempDir()
	for _, commit := range r.commits {
		if err := overlay(whole, commit); err != nil {
			return nil, err
		}
	}
	c, _, err := chartload.Load(filepath.Join(whole, s.Spec.Chart), chartload.Options{})
	if err != nil {
		return nil, err
	}
	c.Metadata.Version = s.Status.Artifact.Revision
	if len(s.Spec.ValuesFiles) == 0 {
		return c, nil
	}
	c.Values = map[string]any{}
	for _, name := range s.Spec.ValuesFiles {
		data, err := os.ReadFile(filepath.Join(whole, name))
		if err != nil {
			return nil, err
		}
		var table map[string]any
		if err := yaml.Unmarshal(data, &table); err != nil {
			return nil, err
		}
		c.Values = values.Overlay(c.Values, table)
	}
	return c, nil
}

// overlay copies files over the existing ones.
func overlay(to, from string) error {
	return filepath.WalkDir(from, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := filepath.Join(to, strings.TrimPrefix(name, from))
		if d.IsDir() {
			return os.MkdirAll(at, 0o755)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(at, data, 0o600)
	})
}
