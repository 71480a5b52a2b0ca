package argo

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// revision begins the names of the variables that have the commit, which is not known: they stay as they are.
const revision = "ARGOCD_APP_REVISION"

// environment returns the variables of Argo CD's build environment for a source of the Application
// (argo-cd docs/user-guide/build-environment.md).
func (a *application) environment(s source) map[string]string {
	out := map[string]string{
		"ARGOCD_APP_NAME": a.Metadata.Name, "ARGOCD_APP_NAMESPACE": a.Spec.Destination.Namespace,
		"ARGOCD_APP_PROJECT_NAME": cmp.Or(a.Spec.Project, "default"), "ARGOCD_APP_SOURCE_PATH": s.Path,
		"ARGOCD_APP_SOURCE_REPO_URL": s.RepoURL, "ARGOCD_APP_SOURCE_TARGET_REVISION": s.TargetRevision,
	}
	for _, name := range []string{revision, revision + "_SHORT", revision + "_SHORT_8"} {
		out[name] = "$" + name
	}
	return out
}

// variable matches what Go's os.Expand replaces, with which Argo CD does it: ${v} and $v.
var variable = regexp.MustCompile(`\$(?:\{([^}]*)\}|\{|([*#$@!?\-0-9]|[A-Za-z_][A-Za-z0-9_]*))`)

// expanded returns a text with its variables replaced; one that is not set is empty, and $$ is a dollar sign
// (Env.Envsubst of argo-cd).
func expanded(text string, variables map[string]string) string {
	return variable.ReplaceAllStringFunc(text, func(found string) string {
		name := strings.Trim(found[1:], "{}")
		if name == "$" {
			return "$"
		}
		return variables[name]
	})
}

// expanded returns the settings with variables replaced in parameters and in the names of files. The ref of
// a source that a name begins with is no variable.
func (h *helm) expanded(variables map[string]string, sources []source) *helm {
	file := func(name string) string {
		ref, _, _ := strings.Cut(name, "/")
		isRef := slices.ContainsFunc(sources, func(s source) bool { return "$"+s.Ref == ref })
		_, set := variables[strings.Trim(variable.FindString(ref), "${}")]
		if !isRef && (set || !strings.HasPrefix(ref, "$")) {
			return expanded(name, variables)
		}
		return ref + expanded(strings.TrimPrefix(name, ref), variables) // that no source has the ref is an error
	}
	out := *h
	out.ValueFiles, out.Parameters, out.FileParameters = nil, nil, nil
	for _, name := range h.ValueFiles {
		out.ValueFiles = append(out.ValueFiles, file(name))
	}
	for _, p := range h.Parameters {
		p.Value = expanded(p.Value, variables)
		out.Parameters = append(out.Parameters, p)
	}
	for _, p := range h.FileParameters {
		p.Path = file(p.Path)
		out.FileParameters = append(out.FileParameters, p)
	}
	return &out
}

// estimated reports whether a parameter has the commit.
func (h *helm) estimated() bool {
	return slices.ContainsFunc(h.Parameters, func(p parameter) bool { return strings.Contains(p.Value, "$"+revision) })
}
