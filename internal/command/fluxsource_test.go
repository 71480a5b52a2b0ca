package command

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/plan"
)

// texts are the texts of the ConfigMaps that a plan writes, or its error.
func (d *desk) texts(line string) string {
	d.t.Helper()
	web := d.planned(line)["web"]
	if web.Plan == nil {
		return web.Error
	}
	var out []string
	web.Plan.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Object.Kind == "ConfigMap" && s.Body != nil {
			out = append(out, fmt.Sprint(s.Object.Name, "=", s.Body.Object["data"]))
		}
	})
	slices.Sort(out)
	return strings.Join(out, " ")
}

// A chart of the repository has the files that source-controller has of it (FLUX.md §2).
func TestChartsAreMadeOfWhatTheSourceKeeps(t *testing.T) {
	for _, c := range []struct {
		why         string
		files       map[string]string
		spec, valid string
		want        string
	}{
		{"all of it", nil, "", "", "logo=map[text:] web=map[text:one]"},
		{"usual exclusions", map[string]string{"web/files/a.png": "picture"}, "", "", "logo=map[text:] web=map[text:one]"},
		{".sourceignore", map[string]string{".sourceignore": "web/templates/logo.yaml\n"}, "", "", "web=map[text:one]"},
		{".sourceignore takes the place of usual exclusions", map[string]string{".sourceignore": "*.md\n", "web/files/a.png": "picture"}, "", "", "logo=map[text:picture] web=map[text:one]"},
		{"below", map[string]string{"web/.sourceignore": "/templates/l*\n"}, "", "", "web=map[text:one]"},
		{"spec.ignore", nil, "ignore: '/*/templates/logo.yaml'", "", "web=map[text:one]"},
		{"all but another folder", nil, "ignore: \"/*\\n!/apps\"", "", "Chart.yaml"},
		{"valuesFiles", map[string]string{".sourceignore": "/env/\n", "env/prod.yaml": "text: prod"}, "", "valuesFiles: [env/prod.yaml]", "env/prod.yaml of spec.chart.spec.valuesFiles is left out of GitRepository/shop/fleet"},
		{"valuesFiles that may be missing", map[string]string{".sourceignore": "/env/\n", "env/prod.yaml": "text: prod"}, "", "valuesFiles: [web/values.yaml, env/prod.yaml], ignoreMissingValuesFiles: true", "logo=map[text:] web=map[text:one]"},
	} {
		t.Run(c.why, func(t *testing.T) {
			d := atDesk(t)
			d.file("web/templates/logo.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: logo}\ndata: {text: '{{ .Files.Get \"files/a.png\" }}'}\n")
			for name, text := range c.files {
				d.file(name, text)
			}
			d.file("source.yaml", "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: fleet, namespace: shop}\nspec: {interval: 1m, url: 'https://example.com/fleet', "+c.spec+"}\n")
			d.releaseFile("release.yaml", "web", "chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet}, "+c.valid+"}}")
			if got := d.texts("source.yaml release.yaml --offline --base-dir /dev/null"); got != c.want && (c.want == "" || strings.Contains(c.want, "=") || !strings.Contains(got, c.want)) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// What a source leaves out is no part of its Kustomizations, either.
func TestKustomizationsAreBuiltOfWhatTheSourceKeeps(t *testing.T) {
	d := atDesk(t)
	d.file("clusters/prod/apps.yaml", "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\nspec: {interval: 1m, path: ./apps, prune: true, sourceRef: {kind: GitRepository, name: fleet}}\n")
	for _, name := range []string{"web", "old"} {
		d.releaseFile("apps/"+name+".yaml", name, "chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet, namespace: flux-system}}}")
	}
	d.file(".sourceignore", "/apps/old.yaml\n")
	if all := d.planned("--flux clusters/prod --offline --base-dir /dev/null"); len(all) != 1 || all["web"].Plan == nil {
		t.Errorf("%+v", all)
	}
}

// What of a GitRepository makes another tree than the checkout is told.
func TestSourcesOfMoreThanTheCheckoutAreTold(t *testing.T) {
	for _, field := range []string{"include: [{repository: {name: other}}]", "sparseCheckout: [web]", "recurseSubmodules: true"} {
		d := atDesk(t)
		d.file("source.yaml", "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: fleet, namespace: shop}\nspec: {interval: 1m, url: 'https://example.com/fleet', "+field+"}\n")
		d.releaseFile("release.yaml", "web", "chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet}}}")
		a := d.must("plan many source.yaml release.yaml --offline --base-dir /dev/null")
		if text := "GitRepository/shop/fleet: include, sparseCheckout and recurseSubmodules are not followed"; !strings.Contains(a.out+a.err, text) {
			t.Errorf("%s: %q is not in\n%s%s", field, text, a.out, a.err)
		}
	}
}
