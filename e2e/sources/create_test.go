//go:build cluster

package sources_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestCheck51Create(t *testing.T) {
	h := newHome(t)
	h.ok("create", "ours/web")
	must(t, os.Mkdir(h.path("theirs"), 0o755))
	h.helm("create", "theirs/web")
	if ours, theirs := h.paths("ours"), h.paths("theirs"); !slices.Equal(ours, theirs) || len(ours) < 12 {
		t.Errorf("ours %q, Helm's %q", ours, theirs)
	}
	h.ok("create", "typed/web", "--schema")
	for _, folder := range []string{"ours/web", "typed/web"} {
		h.ok("lint", "--strict", folder)
		h.helm("lint", "--strict", folder)
	}
	h.ok("package", "ours/web")
	for _, file := range []string{"Chart.yaml", "values.yaml"} {
		if ours, theirs := decoded(t, h.read("ours/web/"+file)), decoded(t, h.read("theirs/web/"+file)); ours != theirs {
			t.Errorf("%s: ours:\n%s\nHelm's:\n%s", file, ours, theirs)
		}
	}
	for _, set := range []string{
		"",
		"autoscaling.enabled=true", "autoscaling.enabled=true,autoscaling.targetCPUUtilizationPercentage=null,autoscaling.targetMemoryUtilizationPercentage=70",
		"ingress.enabled=true", "ingress.enabled=true,ingress.className=nginx,ingress.annotations.a=b,ingress.tls[0].secretName=s,ingress.tls[0].hosts[0]=h,ingress.hosts[0].host=k,ingress.hosts[0].paths[0].path=/a,ingress.hosts[0].paths[1].path=/b",
		"httpRoute.enabled=true", "httpRoute.enabled=true,httpRoute.annotations.q=r,httpRoute.hostnames=null,httpRoute.rules[0].filters[0].type=x,httpRoute.rules[0].matches[0].path.value=/x,httpRoute.parentRefs[0].namespace=n",
		"serviceAccount.create=false", "serviceAccount.create=false,serviceAccount.name=me", "serviceAccount.name=me,serviceAccount.annotations.x=y,serviceAccount.automount=false",
		"nameOverride=foo", "nameOverride=rel", "fullnameOverride=bar", "fullnameOverride=" + strings.Repeat("x", 62) + "-yyyy", "nameOverride=" + strings.Repeat("x", 62) + "-yyyy",
		"podLabels.a=b,podAnnotations.c=d,imagePullSecrets[0].name=p,podSecurityContext.fsGroup=1,securityContext.runAsUser=2",
		"volumes[0].name=v,volumeMounts[0].name=v,volumeMounts[0].mountPath=/x,nodeSelector.a=b,tolerations[0].key=k,affinity.nodeAffinity.x=y,resources.limits.cpu=1",
		"livenessProbe=null,readinessProbe=null,image.tag=x,image.pullPolicy=Always,service.port=81,service.type=NodePort,replicaCount=0", "service.type=LoadBalancer",
	} {
		ours := decoded(t, h.helm("template", "rel", "web-0.1.0.tgz", "--set", set).out)
		theirs := decoded(t, h.helm("template", "rel", "theirs/web", "--set", set).out)
		if ours != theirs {
			t.Errorf("%s: ours:\n%s\nHelm's:\n%s", set, ours, theirs)
		}
		for _, folder := range []string{"ours/web", "typed/web"} {
			if mine := decoded(t, h.ok("template", "rel", folder, "--set", set).out); mine != ours {
				t.Errorf("%s: %s rendered by us:\n%s\nby Helm:\n%s", set, folder, mine, ours)
			}
		}
	}
}

// Values of the wrong type are refused by the schema, by us and by Helm; additional keys are not.
func TestCreateWithASchema(t *testing.T) {
	h := newHome(t)
	h.ok("create", "web", "--schema")
	h.ok("template", "web", "--set", "mine.a=b")
	for _, set := range []string{"replicaCount=two", "image.tag=1", "image.repository=", "image.pullPolicy=Sometimes", "service.port=0", "service=null", "ingress.hosts[0].host=h,ingress.hosts[0].paths[0]=/", "podLabels.a=1", "volumes[0].secret=x"} {
		h.fails(1, strings.FieldsFunc(set, func(c rune) bool { return strings.ContainsRune(".=[", c) })[0], "template", "web", "--set", set)
		if r := h.helm4("template", "web", "web", "--set", set); r.code != 1 || !strings.Contains(r.err, "schema") {
			t.Errorf("%s: Helm says %+v", set, r)
		}
	}
	h.fails(1, "a starter has its own", "create", "other", "--schema", "--starter", "ours")
}

// decoded returns what YAML documents say, whatever the order of their keys.
func decoded(t testing.TB, text string) string {
	t.Helper()
	var all []any
	for _, document := range strings.Split("\n"+text, "\n---\n") {
		var v any
		must(t, yaml.Unmarshal([]byte(document), &v))
		if v != nil {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		t.Error("there are no documents")
	}
	return canonical(t, all)
}

// paths returns the names of all files and folders below a folder.
func (h *home) paths(dir string) []string {
	h.t.Helper()
	var out []string
	must(h.t, filepath.WalkDir(h.path(dir), func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(h.path(dir), path)
		if entry != nil && entry.IsDir() {
			name += "/"
		}
		out = append(out, name)
		return err
	}))
	return out
}

func TestCreateLikeAStarter(t *testing.T) {
	h := newHome(t)
	const starter = ".local/share/helm/starters/ours/"
	h.write(starter+"Chart.yaml", "apiVersion: v1\nname: ours\nversion: 3.2.1\nannotations: {a: b}\n")
	h.write(starter+"values.yaml", "name: <CHARTNAME>\n# comment\n")
	h.write(starter+"values.schema.json", `{"type":"object"}`)
	h.write(starter+"templates/sub/a.yaml", "a: <CHARTNAME>\n")
	h.write(starter+"README.md", "<CHARTNAME>")
	h.write(starter+".helmignore", "*.bak\n")
	h.write(starter+"a.bak", "")
	must(t, os.Mkdir(h.path("theirs"), 0o755))
	for _, from := range []string{"ours", h.path(starter)} {
		must(t, os.RemoveAll(h.path("theirs/web")))
		must(t, os.RemoveAll(h.path("ours")))
		h.ok("create", "ours/web", "-p", from)
		h.helm("create", "theirs/web", "-p", from)
		// Ours also has the empty charts/ that every chart has.
		ours := slices.DeleteFunc(h.paths("ours/web"), func(name string) bool { return name == "charts/" })
		theirs := slices.DeleteFunc(h.paths("theirs/web"), func(name string) bool { return name == "charts/" })
		if !slices.Equal(ours, theirs) || len(ours) != 9 {
			t.Errorf("ours %q, Helm's %q", ours, theirs)
		}
		for _, name := range ours {
			if strings.HasSuffix(name, "/") {
				continue
			}
			a, b := h.read("ours/web/"+name), h.read("theirs/web/"+name)
			if name == "Chart.yaml" {
				a, b = decoded(t, a), decoded(t, b)
			}
			if a != b {
				t.Errorf("%s: ours:\n%s\nHelm's:\n%s", name, a, b)
			}
		}
	}
	h.fails(1, "starters/nope", "create", "x", "--starter", "nope")
	must(t, os.Remove(h.path(starter+"Chart.yaml")))
	h.fails(1, "has no Chart.yaml", "create", "x", "--starter", "ours")
	if h.exists("x") {
		t.Error("something was made")
	}
}

func TestCreateOverwritesNothingUntold(t *testing.T) {
	h := newHome(t)
	h.ok("create", "web")
	values := h.read("web/values.yaml")
	if r := h.ok("create", "web"); r.err != "" {
		t.Errorf("of files that stay the same it says %q", r.err)
	}
	h.write("web/values.yaml", "mine: true\n")
	h.write("web/templates/mine.yaml", "a: b\n")
	r := h.ok("create", "web")
	if !strings.Contains(r.err, "web/values.yaml exists with different content: it is overwritten") || strings.Count(r.err, "overwritten") != 1 {
		t.Error(r.err)
	}
	if h.read("web/values.yaml") != values || h.read("web/templates/mine.yaml") != "a: b\n" {
		t.Error("the wrong files were written")
	}
	// A chart from elsewhere can't make us write outside of it.
	victim := h.write("victim/NOTES.txt", "mine")
	for link, to := range map[string]string{"linked/templates": h.path("victim"), "linked/values.yaml": h.path("nothing"), "linked/charts": h.path("victim")} {
		must(t, os.RemoveAll(h.path("linked")))
		must(t, os.Mkdir(h.path("linked"), 0o755))
		must(t, os.Symlink(to, h.path(link)))
		h.fails(1, "is a symbolic link", "create", "linked")
		if data, err := os.ReadFile(victim); err != nil || string(data) != "mine" || h.exists("nothing") || len(h.paths("linked")) != 2 {
			t.Errorf("%s: %q, %v, %q", link, data, err, h.paths("linked"))
		}
	}
	must(t, os.Mkdir(h.path("here"), 0o755))
	h.dir = h.path("here")
	h.ok("create", ".")
	if !strings.Contains(h.read("Chart.yaml"), `name: "here"`) {
		t.Error(h.read("Chart.yaml"))
	}
	h.fails(1, "not a valid chart name", "create", "a b")
	h.fails(1, "not a valid chart name", "create", "/")
	h.fails(1, "not a directory", "create", "Chart.yaml/x")
}
