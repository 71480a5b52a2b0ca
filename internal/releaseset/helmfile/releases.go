package helmfile

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	yaml "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// releases returns the entries of a file.
func (r *reader) releases(s *state) (*releaseset.Set, error) {
	set := &releaseset.Set{Clusters: map[string]releaseset.Cluster{}}
	var needs [][]string
	var off []releaseset.Entry // those whose conditions are false
	for i := range s.fields.Releases {
		node, file := &s.fields.Releases[i], s.fields.files[i]
		warnings, err := checked(file, node, releaseFields)
		if err != nil {
			return nil, err
		}
		s.warnings = append(s.warnings, warnings...)
		given, err := r.decoded(s, node)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, node.Line, err)
		}
		e, wanted, err := r.entry(s, &given, releaseset.Place{File: file, Line: node.Line})
		if err != nil {
			return nil, refusal(file, node.Line, err)
		}
		if !wanted {
			off = append(off, e)
			continue
		}
		if e.Cluster != "" {
			set.Clusters[e.Cluster] = releaseset.Cluster{Context: e.Cluster}
		}
		set.Entries, needs = append(set.Entries, e), append(needs, given.Needs)
	}
	return set, s.resolve(set.Entries, off, needs)
}

// entry converts a release to the model; wanted is false where its condition says so.
func (r *reader) entry(s *state, given *release, from releaseset.Place) (e releaseset.Entry, wanted bool, err error) {
	e = releaseset.Entry{
		Key: releaseset.Key{ // the file's own fields override those of releases (ApplyOverrides of pkg/state/state.go)
			Cluster:   first(s.fields.KubeContext, given.KubeContext, s.kubeContext, s.fields.HelmDefaults.KubeContext),
			Namespace: first(s.fields.Namespace, given.Namespace, "default"), Name: given.Name,
		},
		Labels: map[string]string{}, Uninstalled: given.Installed != nil && !*given.Installed, From: from,
	}
	maps.Copy(e.Labels, s.fields.CommonLabels)
	maps.Copy(e.Labels, given.Labels)
	switch {
	case given.Name == "":
		return e, false, errors.New("the release has no name")
	case given.Condition != "":
		if wanted, err = condition(s.values, given.Condition); err != nil || !wanted {
			return e, false, err
		}
	}
	if e.Options, err = modelled(given.over(s.fields.HelmDefaults.options)); err != nil {
		return e, false, err
	}
	e.Options.Description = given.Description
	if given.Chart != "" {
		if e.Chart, err = r.chart(s, given.Chart, given.Version); err != nil {
			return e, false, err
		}
	}
	if err := settings(s, given, &e.Settings); err != nil {
		return e, false, err
	}
	if e.Values, err = r.layers(s, given, &e); err != nil {
		return e, false, err
	}
	return e, true, nil
}

func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// modelled converts a release's options. Arguments for helm that affect more than what
// is printed are refused.
func modelled(o options) (releaseset.Options, error) {
	for _, arg := range o.Args {
		if !slices.Contains([]string{"--hide-notes", "--debug", "--color", "--no-color", "--suppress-secrets", "--show-secrets", "--normalize-manifests"}, arg) {
			return releaseset.Options{}, fmt.Errorf("the argument %s for helm is not supported", arg)
		}
	}
	on := func(b *bool) bool { return b != nil && *b }
	out := releaseset.Options{
		Wait: on(o.Wait), WaitForJobs: on(o.WaitForJobs), Atomic: on(o.Atomic) || on(o.RollbackOnFailure), CleanupOnFail: on(o.CleanupOnFail), HistoryMax: o.HistoryMax,
		CreateNamespace: o.CreateNamespace == nil || *o.CreateNamespace, // as helmfile does
		Force:           on(o.Force), TakeOwnership: on(o.TakeOwnership), ForceConflicts: on(o.ForceConflicts), SkipCRDs: on(o.SkipCRDs), SkipSchema: on(o.SkipSchema),
		ServerSide: o.ServerSide,
	}
	if o.Timeout != nil {
		out.Timeout = time.Duration(*o.Timeout) * time.Second
	}
	return out, nil
}

// chart returns a path where something exists there, else a chart from one of the file's repositories.
func (r *reader) chart(s *state, text, version string) (releaseset.Chart, error) {
	if strings.Contains(text, "::") {
		return releaseset.Chart{}, fmt.Errorf("chart %s is fetched by a plugin", text)
	}
	c, err := releaseset.ChartAt(r.tree, s.dir, text, version)
	if err != nil {
		return c, err
	}
	if c.Path != "" {
		if _, err := releaseset.Stat(r.tree, c.Path); err == nil {
			return c, nil
		}
	}
	alias, name, ok := strings.Cut(text, "/")
	for _, repository := range s.fields.Repositories {
		switch {
		case !ok || repository.Name != alias || strings.Contains(text, "://"):
		case repository.OCI:
			c = releaseset.Chart{Name: "oci://" + strings.TrimSuffix(strings.TrimPrefix(repository.URL, "oci://"), "/") + "/" + name, Version: version}
		default:
			c = releaseset.Chart{Name: name, Repo: repository.URL, Version: version}
		}
	}
	return c, nil
}

// settings converts set and setString to what --set takes. Errors: a file is outside of the
// tree; a value would be fetched from a secret store.
func settings(s *state, given *release, out *releaseset.Settings) error {
	escaped := strings.NewReplacer(`\`, `\\`, ",", `\,`, "{", `\{`, "}", `\}`, "[", `\[`, "]", `\]`)
	text := func(x setting) string {
		if x.Values == nil {
			return x.Name + "=" + escaped.Replace(x.Value)
		}
		var parts []string
		for _, v := range x.Values {
			parts = append(parts, escaped.Replace(v))
		}
		return x.Name + "={" + strings.Join(parts, ",") + "}"
	}
	for _, x := range slices.Concat(given.Set, given.SetString) {
		if err := refused([]byte(x.Value + "\n" + strings.Join(x.Values, "\n"))); err != nil {
			return fmt.Errorf("%s: %w", x.Name, err)
		}
	}
	for _, x := range given.Set {
		if x.File == "" {
			out.Set = append(out.Set, text(x))
			continue
		}
		at, err := s.path(x.File)
		if err != nil {
			return err
		}
		out.File = append(out.File, x.Name+"="+at)
	}
	for _, x := range given.SetString {
		if x.File != "" {
			return fmt.Errorf("%s: setString has no file: use set", x.Name)
		}
		out.String = append(out.String, text(x))
	}
	return nil
}

// layers returns a release's values: files, patterns of them, templates and tables.
func (r *reader) layers(s *state, given *release, e *releaseset.Entry) ([]releaseset.Value, error) {
	var out []releaseset.Value
	handler := first(given.MissingFile, s.fields.MissingFile)
	data := s.data(r.options.Environment, e)
	for _, list := range []struct {
		nodes     []yaml.Node
		encrypted bool
	}{{given.Values, false}, {given.Secrets, true}} {
		for i := range list.nodes {
			node := &list.nodes[i]
			from := releaseset.Place{File: e.From.File, Line: node.Line}
			if node.Kind != yaml.ScalarNode {
				if releaseset.KeyNode(node, "sops") != nil { // helmfile build embeds files of secrets as they are
					return nil, errors.New("a table of values is encrypted with SOPS: name its file, or decrypt it")
				}
				text, err := releaseset.Inline(node)
				if err == nil {
					err = refused(text)
				}
				if err != nil {
					return nil, err
				}
				out = append(out, releaseset.Value{Inline: text, From: from})
				continue
			}
			layers, err := r.file(s, node.Value, data, handler)
			if err != nil {
				return nil, err
			}
			for _, v := range layers {
				v.From, v.Optional, v.Encrypted = from, optional(handler), list.encrypted
				out = append(out, v)
			}
		}
	}
	return out, nil
}

// optional reports whether files may be missing, by a missingFileHandler.
func optional(handler string) bool { return handler != "" && handler != "Error" }

// reference is a value that helmfile fetches from a secret store (github.com/helmfile/vals).
var reference = regexp.MustCompile(`ref\+[A-Za-z0-9]+:`)

// refused returns an error for values that helmfile would fetch from somewhere.
func refused(text []byte) error {
	if reference.Match(text) {
		return errors.New("a value is a reference to a secret store (ref+…), and nothing is fetched here")
	}
	return nil
}

// file reads a path of values, which may be a template itself, a pattern, or name a template. missing is
// the missingFileHandler.
func (r *reader) file(s *state, name string, data map[string]any, missing string) ([]releaseset.Value, error) {
	if strings.Contains(name, "{{") {
		var err error
		if name, err = r.render(s.file, name, data); err != nil {
			return nil, err
		}
	}
	at, err := s.path(name)
	if err != nil {
		return nil, err
	}
	if ext := path.Ext(at); ext == ".hcl" {
		return nil, fmt.Errorf("values in HCL (%s) are not supported", name)
	}
	files, err := r.glob(at)
	if err == nil && len(files) == 0 && !optional(missing) {
		err = fmt.Errorf("no file of values matches %s", name)
	}
	if err != nil {
		return nil, err
	}
	var out []releaseset.Value
	for _, file := range files {
		v, template := releaseset.Value{File: file}, strings.HasSuffix(file, ".gotmpl")
		text, err := releaseset.ReadFile(r.tree, file)
		switch {
		case errors.Is(err, fs.ErrNotExist): // reported, or not, where it is merged
			out = append(out, v)
			continue
		case err != nil:
			return nil, err
		case template:
			rendered, err := r.render(file, string(text), data)
			if err != nil {
				return nil, err
			}
			text = []byte(rendered)
			v = releaseset.Value{Inline: text}
		}
		if err := refused(text); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		out = append(out, v)
	}
	return out, nil
}
