// Package argo reads Argo CD's Applications (argoproj.io/v1alpha1) that deploy a chart, as
// entries of a releaseset.Set: the chart, and the values in Argo CD's order. Applications
// without a chart are reported and skipped.
//
// Argo CD renders charts as helm template does and keeps no releases: there are no records
// to plan from, so two versions of the files are compared to see what happens to objects.
// The package is given a tree of files; it fetches nothing and asks no cluster.
package argo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

// Group and Kind are the API group and kind of Applications.
const (
	Group = "argoproj.io"
	Kind  = "Application"
)

var declared = regexp.MustCompile(`(?m)"?apiVersion"?:\s*["']?` + regexp.QuoteMeta(Group) + `/`)

// Holds reports whether a file has an object of Argo CD's API group.
func Holds(data []byte) bool { return declared.Match(data) }

// application has the fields that decide what is rendered
// (argo-cd pkg/apis/application/v1alpha1/types.go).
type application struct {
	Metadata struct {
		Name       string            `json:"name"`
		Namespace  string            `json:"namespace"`
		Labels     map[string]string `json:"labels"`
		Finalizers []string          `json:"finalizers"`
	} `json:"metadata"`
	Spec struct {
		Project     string   `json:"project"`
		Source      *source  `json:"source"`
		Sources     []source `json:"sources"`
		Destination struct {
			Server    string `json:"server"`
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"destination"`
		SyncPolicy struct {
			Automated *struct {
				Prune   bool  `json:"prune"`
				Enabled *bool `json:"enabled"`
			} `json:"automated"`
		} `json:"syncPolicy"`
	} `json:"spec"`
}

type source struct {
	RepoURL        string `json:"repoURL"`
	Chart          string `json:"chart"`
	Path           string `json:"path"`
	TargetRevision string `json:"targetRevision"`
	Ref            string `json:"ref"`
	Helm           *helm  `json:"helm"`
}

type helm struct {
	ReleaseName             string          `json:"releaseName"`
	ValueFiles              []string        `json:"valueFiles"`
	IgnoreMissingValueFiles bool            `json:"ignoreMissingValueFiles"`
	Values                  string          `json:"values"`
	ValuesObject            json.RawMessage `json:"valuesObject"`
	Parameters              []parameter     `json:"parameters"`
	FileParameters          []parameter     `json:"fileParameters"`
	SkipCRDs                bool            `json:"skipCrds"`
	SkipTests               bool            `json:"skipTests"`
	SkipSchemaValidation    bool            `json:"skipSchemaValidation"`
	Namespace               string          `json:"namespace"`
	KubeVersion             string          `json:"kubeVersion"`
	APIVersions             []string        `json:"apiVersions"`
}

type parameter struct {
	Name        string `json:"name"`
	Value       string `json:"value"`
	Path        string `json:"path"`
	ForceString bool   `json:"forceString"`
}

func decode(object map[string]any) (*application, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	out := &application{}
	if err := json.Unmarshal(data, out); err != nil {
		return nil, fmt.Errorf("read Application: %w", err)
	}
	return out, nil
}

// String returns "Application argocd/web".
func (a *application) String() string {
	return Kind + " " + a.Metadata.Namespace + "/" + a.Metadata.Name
}

// cluster returns the name of the destination, "" for the cluster that Argo CD runs in. A server
// is named by its URL, as Argo CD tells clusters apart, without what says nothing: https://, the
// port 443 and a slash at the end. Rancher serves all its clusters from one host.
func (a *application) cluster() string {
	d := a.Spec.Destination
	server := strings.TrimRight(d.Server, "/")
	switch {
	case d.Name == "in-cluster", server == "https://kubernetes.default.svc":
		return ""
	case d.Name != "":
		return d.Name
	}
	return overHTTPS.ReplaceAllString(server, "$host$path")
}

var overHTTPS = regexp.MustCompile(`^https://(?P<host>[^/]+?)(:443)?(?P<path>/.*)?$`)

// inline returns the values in the Application itself: valuesObject, else values
// (ApplicationSourceHelm.ValuesYAML).
func (h *helm) inline() ([]byte, error) {
	text := bytes.TrimSpace(h.ValuesObject)
	if len(text) == 0 || bytes.Equal(text, []byte("null")) {
		text = []byte(h.Values)
	}
	var table map[string]any
	if err := yaml.Unmarshal(text, &table); err != nil {
		return nil, fmt.Errorf("values: %w", err)
	}
	return text, nil
}
