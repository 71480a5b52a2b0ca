package manifest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

func file(path, content string) manifest.File { return manifest.File{Path: path, Content: content} }

// object returns a document of a kind, with annotations as "key: value" lines.
func object(kind, name string, annotations ...string) string {
	text := "apiVersion: v1\nkind: " + kind + "\nmetadata:\n  name: " + name + "\n"
	if len(annotations) > 0 {
		text += "  annotations:\n    " + strings.Join(annotations, "\n    ") + "\n"
	}
	return text
}

func heads(docs []manifest.Document) []string {
	var out []string
	for _, d := range docs {
		out = append(out, d.Head.Kind+"/"+d.Head.Metadata.Name)
	}
	return out
}

func TestClassifyOrdersByKindThenByFile(t *testing.T) {
	got, err := manifest.Classify([]manifest.File{
		file("web/templates/z.yaml", object("Deployment", "z")+"---\n"+object("Widget", "w")),
		file("web/templates/a.yaml", object("Service", "second")+"---\n"+object("Service", "first")),
		file("web/templates/_names.tpl", "not: [yaml"),
		file("web/templates/empty.yaml", " \n"),
		file("web/templates/m.yaml", object("Namespace", "ns")+"---\n"+object("Gadget", "g")+"---\n"+object("MutatingWebhookConfiguration", "m")),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"Namespace/ns", "Service/second", "Service/first", "Deployment/z",
		"MutatingWebhookConfiguration/m", "Gadget/g", "Widget/w",
	}
	if diff := cmp.Diff(want, heads(got.Documents)); diff != "" {
		t.Error(diff)
	}
}

func TestClassifyReadsHooks(t *testing.T) {
	got, err := manifest.Classify([]manifest.File{file("web/templates/h.yaml", strings.Join([]string{
		object("Job", "migrate", `helm.sh/hook: pre-upgrade, Pre-Install`, `helm.sh/hook-weight: "-5"`,
			`helm.sh/hook-delete-policy: hook-succeeded,HOOK-FAILED`, `helm.sh/hook-output-log-policy: hook-failed`),
		object("Pod", "check", `helm.sh/hook: test-success`, `helm.sh/hook-weight: heavy`),
		object("Pod", "huge", `helm.sh/hook: test`, `helm.sh/hook-weight: "9223372036854775808"`),
		object("Job", "lost", `helm.sh/hook: pre-lunch`),
		object("ConfigMap", "plain", `note: "no hook"`),
	}, "---\n"))})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ConfigMap/plain"}, heads(got.Documents)); diff != "" {
		t.Errorf("documents: %s", diff)
	}
	if diff := cmp.Diff([]string{"Job/lost"}, heads(got.Dropped)); diff != "" {
		t.Errorf("an unknown event drops the object: %s", diff)
	}
	for i := range got.Hooks {
		got.Hooks[i].Manifest = ""
	}
	want := []manifest.Hook{
		{Name: "check", Kind: "Pod", Path: "web/templates/h.yaml", Events: []manifest.Event{manifest.Test}},
		{Name: "huge", Kind: "Pod", Path: "web/templates/h.yaml", Events: []manifest.Event{manifest.Test}},
		{
			Name: "migrate", Kind: "Job", Path: "web/templates/h.yaml", Weight: -5,
			Events:            []manifest.Event{manifest.PreUpgrade, manifest.PreInstall},
			DeletePolicies:    []manifest.Policy{manifest.HookSucceeded, manifest.HookFailed},
			OutputLogPolicies: []manifest.Policy{manifest.HookFailed},
		},
	}
	if diff := cmp.Diff(want, got.Hooks); diff != "" {
		t.Errorf("hooks: %s", diff)
	}
}

func TestClassifyNamesTheFileOfBadYAML(t *testing.T) {
	_, err := manifest.Classify([]manifest.File{file("web/templates/bad.yaml", "kind: [")})
	if err == nil || !strings.Contains(err.Error(), "web/templates/bad.yaml") {
		t.Errorf("got %v, want an error that names the file", err)
	}
}

func TestHookPolicyDefaultsToBeforeCreation(t *testing.T) {
	if h := (manifest.Hook{}); !h.Deletes(manifest.BeforeHookCreation) || h.Deletes(manifest.HookSucceeded) {
		t.Error("a hook without policies is deleted before its next run, and only then")
	}
	h := manifest.Hook{DeletePolicies: []manifest.Policy{manifest.HookFailed}}
	if h.Deletes(manifest.BeforeHookCreation) || !h.Deletes(manifest.HookFailed) {
		t.Error("named policies replace the default")
	}
}

func TestParseReadsBackWhatTextWrote(t *testing.T) {
	text := manifest.Text([]manifest.Document{
		{Path: "web/templates/a.yaml", Text: object("ConfigMap", "a")},
		{Path: "web/templates/none.yaml", Text: "# only a comment\n"},
		{Path: "web/templates/l.yaml", Text: "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: s}}\n- {apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: far}}\n"},
	})
	objects, err := manifest.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range objects {
		got = append(got, o.Key()+" "+o.Version+" "+o.Source)
	}
	want := []string{
		"/ConfigMap//a v1 web/templates/a.yaml",
		"/Secret//s v1 web/templates/l.yaml",
		"apps/Deployment/far/d v1 web/templates/l.yaml",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseDocumentRefuses(t *testing.T) {
	for name, doc := range map[string]string{
		"no kind":                   "apiVersion: v1\nmetadata: {name: a}",
		"no apiVersion":             "kind: A\nmetadata: {name: a}",
		"no name":                   "apiVersion: v1\nkind: A",
		"odd apiVersion":            "apiVersion: a/b/c\nkind: A\nmetadata: {name: a}",
		"a list":                    "- a\n- b",
		"an item that is no object": "apiVersion: v1\nkind: List\nitems: [1]",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := manifest.ParseDocument(doc, "web/templates/x.yaml")
			if err == nil || !strings.Contains(err.Error(), "web/templates/x.yaml") {
				t.Errorf("got %v, want an error that names the template", err)
			}
		})
	}
}

func TestQualifyGivesAndTakesNamespaces(t *testing.T) {
	text := strings.Join([]string{
		object("ConfigMap", "here"), object("Namespace", "ns"),
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: there, namespace: far}\n",
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: m, namespace: far}\n",
		"apiVersion: x.io/v1\nkind: Widget\nmetadata: {name: w}\n",
	}, "---\n")
	objects, err := manifest.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	scope := func(gvk schema.GroupVersionKind) manifest.Scope {
		switch gvk.Kind {
		case "Namespace":
			return manifest.ScopeCluster
		case "ConfigMap":
			return manifest.ScopeNamespaced
		}
		return manifest.ScopeUnknown
	}
	var got []string
	for _, o := range manifest.Qualify(objects, "shop", scope) {
		if o.Namespace != o.Doc.GetNamespace() {
			t.Errorf("%s: the document says namespace %q", o.Key(), o.Doc.GetNamespace())
		}
		got = append(got, o.Key())
	}
	want := []string{"/ConfigMap/shop/here", "/Namespace//ns", "/ConfigMap/far/there", "/Namespace//m", "x.io/Widget/shop/w"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if objects[0].Doc.GetNamespace() != "" {
		t.Error("the parsed document itself was changed")
	}
}
