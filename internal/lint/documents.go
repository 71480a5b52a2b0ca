package lint

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/values"
)

// documents checks the YAML documents of a rendered file, and the objects in them.
func (r *run) documents(f manifest.File, seen map[manifest.ID]manifest.Object) {
	docs := manifest.Split(f.Content)
	lines := startLines(f.Content, docs)
	for i, text := range docs {
		r.document(manifest.File{Path: f.Path, Content: text}, lines[i], seen)
	}
}

func (r *run) document(doc manifest.File, start int, seen map[manifest.ID]manifest.Object) {
	at := Finding{Path: inChart(doc.Path), RenderedLine: start}
	if !r.parses(doc, at) {
		return
	}
	objects, unparsed := manifest.ParseDocument(doc.Content, doc.Path)
	sorted, err := manifest.Classify([]manifest.File{doc})
	switch {
	case unparsed != nil && err == nil && harmless(sorted):
		at.Severity, at.Message = Warning, strings.TrimPrefix(unparsed.Error(), doc.Path+": ")
		r.add(at)
		return
	case unparsed != nil:
		r.judge(at, strings.TrimPrefix(unparsed.Error(), doc.Path+": "))
		return
	case err != nil:
		r.judge(at, err.Error())
		return
	}
	r.list(doc.Content, objects, at)
	for _, o := range objects {
		before := len(r.findings)
		r.hook(o, sorted, at)
		switch {
		case len(sorted.Dropped) > 0:
		case len(sorted.Hooks) > 0:
			r.shared(o, at, seen, "a resource")
			r.hooked[r.placed(o)] = o
		default:
			r.unique(o, at, seen)
			r.shared(o, at, r.hooked, "a hook")
			r.alsoInCRDs(o, at)
		}
		r.object(o, at, doc.Content)
		if !slices.ContainsFunc(r.findings[before:], func(f Finding) bool { return f.Severity == Error }) && len(sorted.Dropped) == 0 {
			r.objects = append(r.objects, o)
		}
	}
}

// harmless reports whether a document is a hook that neither an install nor an upgrade runs, so that
// they succeed even if it can't be parsed.
func harmless(sorted manifest.Classified) bool {
	return len(sorted.Hooks) > 0 && !slices.ContainsFunc(sorted.Hooks, func(h manifest.Hook) bool {
		return h.On(manifest.PreInstall) || h.On(manifest.PostInstall) || h.On(manifest.PreUpgrade) || h.On(manifest.PostUpgrade)
	})
}

// parses reports whether the document is YAML, and warns about duplicate keys.
func (r *run) parses(doc manifest.File, at Finding) bool {
	warnings, err := values.CheckYAML([]byte(doc.Content), path.Base(doc.Path))
	if err != nil {
		f := at
		_, line, message := placed("", yamlMessage(err))
		f.Severity, f.Message = Error, "its YAML can't be read: "+message
		f.RenderedLine = shift(at.RenderedLine, line)
		r.add(f)
		return false
	}
	for _, w := range warnings {
		f := at
		_, line, message := placed("", w.What)
		f.Severity, f.Message = Warning, message
		f.RenderedLine = shift(at.RenderedLine, line)
		r.add(f)
	}
	return true
}

// shift turns a line number within a document into one within its file.
func shift(start, line int) int {
	if line == 0 || start == 0 {
		return start
	}
	return start + line - 1
}

// judge adds a finding on which an install would fail. Where required values are
// missing, it might succeed with them, so it is a warning.
func (r *run) judge(at Finding, message string) {
	at.Severity, at.Message = Error, message
	if r.incomplete {
		at.Severity = Warning
	}
	r.add(at)
}

// cutLength is the length of names that charts cut at 63 characters, without a dash at their end:
// trunc 63 | trimSuffix "-".
const cutLength = 62

// unique checks that every object occurs once. An object without a namespace is in the
// release's. Names that are as long as cut ones may differ with a shorter release name.
func (r *run) unique(o manifest.Object, at Finding, seen map[manifest.ID]manifest.Object) {
	id := r.placed(o)
	at.Object = o.String()
	if first, ok := seen[id]; ok {
		message := "the same object is already in " + inChart(first.Source)
		if len(o.Name) < cutLength {
			r.judge(at, message)
			return
		}
		at.Severity = Warning
		at.Message = fmt.Sprintf("%s; with a release name shorter than %s the names may differ, if they are cut at 63 characters", message, releaseName)
		r.add(at)
		return
	}
	seen[id] = o
}

// placed returns the ID of an object with its namespace. A cluster-wide object gets one, too.
func (r *run) placed(o manifest.Object) manifest.ID {
	id := o.ID
	if id.Namespace == "" {
		id.Namespace = r.Options.Namespace
	}
	return id
}

// shared warns about an object that the chart has both as a resource and as a hook. others are the objects of the other sort that came before it.
func (r *run) shared(o manifest.Object, at Finding, others map[manifest.ID]manifest.Object, sort string) {
	if other, ok := others[r.placed(o)]; ok {
		at.Severity, at.Object = Warning, o.String()
		at.Message = fmt.Sprintf("the same object is %s in %s, and a hook takes the place of a resource that has its name", sort, inChart(other.Source))
		r.add(at)
	}
}

// alsoInCRDs warns about a CRD that crds/ has, too: an install creates that one first and then finds it in
// the way.
func (r *run) alsoInCRDs(o manifest.Object, at Finding) {
	d, _ := o.Defines()
	if first, ok := r.definitions()[d.GroupKind]; ok && first.CRD.ID == o.ID {
		at.Severity, at.Object = Warning, o.String()
		at.Message = fmt.Sprintf("the same object is already in %s, so that no release can be installed without --skip-crds", inChart(first.CRD.Source))
		r.add(at)
	}
}

// list rejects resource policies on the items of a List, where nothing reads them: Helm
// looks at the List itself. The rule is Helm 4.3.1's
// (pkg/chart/v2/lint/rules/template.go, validateListAnnotations).
func (r *run) list(text string, items []manifest.Object, at Finding) {
	if len(items) == 1 && !strings.Contains(text, "\nitems:") {
		return
	}
	for _, o := range items {
		if _, ok := o.Doc.GetAnnotations()[manifest.ResourcePolicyAnnotation]; ok && strings.Contains(text, "kind: List") {
			at.Severity, at.Object = Error, o.String()
			at.Message = "the annotation " + manifest.ResourcePolicyAnnotation + " is ignored on items of a List"
			r.add(at)
		}
	}
}

// hook checks the annotations of hooks, which Helm ignores when it does not understand
// them.
func (r *run) hook(o manifest.Object, sorted manifest.Classified, at Finding) {
	at.Severity, at.Object = Warning, o.String()
	say := func(format string, args ...any) {
		at.Message = fmt.Sprintf(format, args...)
		r.add(at)
	}
	annotations := o.Doc.GetAnnotations()
	if len(sorted.Dropped) > 0 {
		say("%s: %q is not a hook event, so the object is ignored", manifest.HookAnnotation, annotations[manifest.HookAnnotation])
		return
	}
	for _, h := range sorted.Hooks {
		for _, p := range h.DeletePolicies {
			if !slices.Contains([]manifest.Policy{manifest.HookSucceeded, manifest.HookFailed, manifest.BeforeHookCreation}, p) {
				say("%s: %q is not a delete policy", manifest.HookDeleteAnnotation, p)
			}
		}
		for _, p := range h.OutputLogPolicies {
			if p != manifest.HookSucceeded && p != manifest.HookFailed {
				say("%s: %q is not a log policy", manifest.HookOutputLogAnnotation, p)
			}
		}
	}
	if w, ok := annotations[manifest.HookWeightAnnotation]; ok {
		if _, err := strconv.Atoi(w); err != nil {
			say("%s: %q is not an integer and counts as 0", manifest.HookWeightAnnotation, w)
		}
	}
	if p, ok := annotations[manifest.ResourcePolicyAnnotation]; ok && !strings.EqualFold(strings.TrimSpace(p), manifest.ResourcePolicyKeep) {
		say("%s: %q is not a resource policy; keep is the only one", manifest.ResourcePolicyAnnotation, p)
	}
}
