package argo

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// Placed is an object with the file or folder that it comes from.
type Placed struct {
	Object map[string]any
	From   string
}

// Set returns the Applications among objects that deploy a chart. One whose chart or values
// can't be found is an entry whose Err says why; those without one chart are in Warnings and Unplanned, and
// those that can't be decoded in Unread. tree holds the files of the checkout.
func Set(tree releaseset.Tree, of releaseset.Checkout, objects []Placed) *releaseset.Set {
	out := &releaseset.Set{Clusters: map[string]releaseset.Cluster{}, Unplanned: map[string]releaseset.Unplanned{}}
	for _, o := range objects {
		a, err := decode(o.Object)
		if err != nil {
			out.Unread = append(out.Unread, o.From+": "+err.Error())
			continue
		}
		a.Metadata.Namespace = cmp.Or(a.Metadata.Namespace, "argocd")
		e, err := entry(tree, of, a, o)
		if err != nil {
			out.Warnings = append(out.Warnings, fmt.Sprintf("%s: %s: %v", o.From, a, err))
			out.Unplanned[a.String()] = releaseset.Unplanned{Err: err, Missing: missing(tree, of, a)}
			continue
		}
		if e.Cluster != "" {
			out.Clusters[e.Cluster] = releaseset.Cluster{}
		}
		out.Entries = append(out.Entries, e)
	}
	return out
}

// entry returns the entry for the Application's chart. Errors: it has none, or several.
func entry(tree releaseset.Tree, of releaseset.Checkout, a *application, o Placed) (releaseset.Entry, error) {
	sources := a.sources()
	charts := slices.DeleteFunc(slices.Clone(sources), func(s source) bool {
		return s.Chart == "" && s.Helm == nil && (s.Path == "" || !releaseset.IsChart(tree, inTree(s.Path)))
	})
	switch len(charts) {
	case 0:
		return releaseset.Entry{}, errors.New("it deploys no chart, so it is not planned")
	case 1:
	default:
		return releaseset.Entry{}, fmt.Errorf("it deploys %d charts, so it is not planned", len(charts))
	}
	s := charts[0]
	h := s.Helm
	if h == nil {
		h = &helm{}
	}
	h = h.expanded(a.environment(s), sources)
	m := &manager{application: a, helm: h, spec: o.Object["spec"]}
	e := releaseset.Entry{
		Key: releaseset.Key{
			Cluster: a.cluster(), Namespace: cmp.Or(h.Namespace, a.Spec.Destination.Namespace, "default"),
			Name: cmp.Or(h.ReleaseName, a.Metadata.Name),
		},
		Labels: a.Metadata.Labels, From: releaseset.Place{File: o.From}, Manager: m,
		Options: releaseset.Options{SkipCRDs: h.SkipCRDs, SkipSchema: h.SkipSchemaValidation},
	}
	e.Chart = s.located()
	if e.Chart.Path != "" && !releaseset.IsChart(tree, e.Chart.Path) {
		m.err = fmt.Errorf("there is no chart at %s in this repository; those of other repositories are not fetched", s.Path)
	}
	if e.Chart.Path != "" && of.Compare(s.RepoURL) == releaseset.Other {
		m.err = fmt.Errorf("repoURL %s: charts of other repositories are not fetched", of.Unlike(s.RepoURL))
	}
	if e.Chart.Path != "" && of.Branch != "" && !s.follows(of.Branch) {
		m.follows = fmt.Sprintf("it follows %s, not branch %s: the change is applied once it is there", s.TargetRevision, of.Branch)
	}
	if err := h.into(&e, of, s.Path, sources); err != nil {
		m.err = err
	}
	return e, nil
}

// sources returns those of an Application, however they are declared.
func (a *application) sources() []source {
	if len(a.Spec.Sources) == 0 && a.Spec.Source != nil {
		return []source{*a.Spec.Source}
	}
	return a.Spec.Sources
}

// missing reports whether a path of a source is not in this repository although it should be: Argo CD can't render that.
func missing(tree releaseset.Tree, of releaseset.Checkout, a *application) bool {
	return slices.ContainsFunc(a.sources(), func(s source) bool {
		if s.Chart != "" || s.Path == "" || of.Compare(s.RepoURL) == releaseset.Other {
			return false
		}
		_, err := releaseset.Stat(tree, inTree(s.Path))
		return err != nil
	})
}

// follows reports whether a source may be of a branch: HEAD, and nothing, stand for the default branch,
// which is not known.
func (s source) follows(branch string) bool {
	return slices.Contains([]string{"", "HEAD", branch, "refs/heads/" + branch}, s.TargetRevision)
}

// inTree returns a path as one in the repository, from which it can't lead out; "." is its root.
func inTree(name string) string { return cmp.Or(releaseset.InTree(name), ".") }

// located returns where the chart comes from: a chart repository, a registry, whose URL has
// no scheme, or the tree.
func (s source) located() releaseset.Chart {
	version := strings.TrimPrefix(s.TargetRevision, "*")
	switch {
	case s.Chart == "":
		return releaseset.Chart{Path: inTree(s.Path)}
	case strings.HasPrefix(s.RepoURL, "oci://"), !strings.Contains(s.RepoURL, "://"):
		return releaseset.Chart{Name: "oci://" + strings.TrimSuffix(strings.TrimPrefix(s.RepoURL, "oci://"), "/") + "/" + s.Chart, Version: version}
	}
	return releaseset.Chart{Name: s.Chart, Repo: s.RepoURL, Version: version}
}

// into adds the values to an entry, in Argo's order: files, values, parameters
// (util/helm of argo-cd).
func (h *helm) into(e *releaseset.Entry, of releaseset.Checkout, chart string, sources []source) error {
	for _, name := range h.ValueFiles {
		file, err := located(name, of, chart, sources)
		if err != nil {
			return err
		}
		e.Values = append(e.Values, releaseset.Value{File: file, Optional: h.IgnoreMissingValueFiles, From: e.From})
	}
	text, err := h.inline()
	if err != nil {
		return err
	}
	if len(text) > 0 {
		e.Values = append(e.Values, releaseset.Value{Inline: text, From: e.From})
	}
	for _, p := range h.Parameters {
		text := p.Name + "=" + escaped(p.Value)
		if p.ForceString {
			e.Settings.String = append(e.Settings.String, text)
		} else {
			e.Settings.Set = append(e.Settings.Set, text)
		}
	}
	for _, p := range h.FileParameters {
		file, err := located(p.Path, of, chart, sources)
		if err != nil {
			return err
		}
		e.Settings.File = append(e.Settings.File, p.Name+"="+file)
	}
	return nil
}

// located returns the path of a file that is named relative to the chart, to the root (/…),
// or to the root of a source with a ref ($ref/…), which is taken to be this repository.
func located(name string, of releaseset.Checkout, chart string, sources []source) (string, error) {
	ref, rest, _ := strings.Cut(name, "/")
	switch {
	case strings.Contains(name, "://"):
		return "", fmt.Errorf("%s: values files are not fetched", name)
	case strings.HasPrefix(name, "/"):
		return inTree(name), nil
	case !strings.HasPrefix(ref, "$"):
		if chart == "" {
			return "", fmt.Errorf("%s: values files in a fetched chart are not read", name)
		}
		return inTree(path.Join(chart, name)), nil
	}
	i := slices.IndexFunc(sources, func(s source) bool { return "$"+s.Ref == ref })
	switch {
	case i < 0:
		return "", fmt.Errorf("%s: no source has the ref %s", name, strings.TrimPrefix(ref, "$"))
	case of.Compare(sources[i].RepoURL) == releaseset.Other:
		return "", fmt.Errorf("%s: the source %s %s: files of other repositories are not fetched", name, ref, of.Unlike(sources[i].RepoURL))
	}
	return inTree(rest), nil
}

// escaped returns a value with its commas escaped, so that --set takes them literally; a list
// {…} stays as it is (cleanSetParameters of argo-cd).
func escaped(value string) string {
	if strings.HasPrefix(value, "{") && strings.HasSuffix(value, "}") {
		return value
	}
	var out strings.Builder
	for i, r := range value {
		if r == ',' && (i == 0 || value[i-1] != '\\') {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}
