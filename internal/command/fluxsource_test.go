package command

import (
	"fmt"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/objecttest"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// texts returns the texts of the ConfigMaps that a plan writes, or its error.
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

// A chart in the repository has the files that source-controller keeps of it (FLUX.md §2).
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
		{"valuesFiles", map[string]string{".sourceignore": "/env/\n", "env/prod.yaml": "text: prod"}, "", "valuesFiles: [env/prod.yaml]", "env/prod.yaml of spec.chart.spec.valuesFiles is excluded from GitRepository/shop/fleet"},
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

// What a source excludes is not part of its Kustomizations, either.
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

// So it is with the folder where Flux begins; hidden folders and files are part of both.
func TestTheFolderWhereFluxBeginsIsOfWhatTheSourceKeeps(t *testing.T) {
	d := atDesk(t)
	for _, name := range []string{"web", ".disabled/api", ".shop", "old"} {
		d.releaseFile("clusters/prod/"+name+".yaml", strings.Trim(path.Base(name), "."), "chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet, namespace: flux-system}}}")
	}
	d.file(".sourceignore", "/clusters/*/old.yaml\n")
	all := d.planned("--flux clusters/prod --offline --base-dir /dev/null")
	if names := slices.Sorted(maps.Keys(all)); fmt.Sprint(names) != "[api shop web]" {
		t.Errorf("%v", names)
	}
}

// The version of a chart from a HelmRepository is that very version or else a range, and of the builds of a
// version the one that was created last counts.
func TestVersionOfAChartFromAHelmRepository(t *testing.T) {
	repository := sourcetest.Serve(t, sourcetest.Options{})
	var entries []sourcetest.Entry
	for version, created := range map[string]string{
		"1.0.0+a": "2026-01-01T00:00:00Z", "1.0.0+b": "2026-01-03T00:00:00.5+01:00", "1.0.0+c": "2026-01-02T00:00:00Z", "2.0.0": "2026-01-01T00:00:00Z", "2.0.0+z": "2026-01-02T00:00:00Z",
	} {
		file := "web-" + version + ".tgz"
		archive := sourcetest.Chart(t, "web", version, "")
		repository.Put("/"+file, archive)
		entries = append(entries, sourcetest.Entry{Name: "web", Version: version, URL: file, Digest: sourcetest.Digest(archive), Created: created})
	}
	repository.Put("/index.yaml", sourcetest.Index(entries...))
	d := atDesk(t)
	d.file("source.yaml", "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: charts, namespace: shop}\nspec: {interval: 1m, url: '"+repository.URL+"'}\n")
	for version, want := range map[string]string{
		"1.0.0": "version:1.0.0+b]", "1.0.0+a": "version:1.0.0+a]", "v1.0.0": "version:1.0.0+b]", "~1": "version:1.0.0+b]",
		"2.0.0": "version:2.0.0]", "*": "version:2.0.0+z]", "1.0.1": "there is no version 1.0.1",
	} {
		d.releaseFile("release.yaml", "web", "chart: {spec: {chart: web, version: '"+version+"', sourceRef: {kind: HelmRepository, name: charts}}}")
		if got := d.texts("source.yaml release.yaml --base-dir /dev/null"); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", version, got, want)
		}
	}
}

// Fields of a GitRepository that make its tree differ from the checkout are reported.
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

// Check 18 of FLUX.md, for a chart that is fetched: the version has digits of the manifest's
// digest, in templates, too, and a tag is the version of its chart.
func TestCheck18VersionOfAnOCIRepository(t *testing.T) {
	d := atDesk(t)
	registry := sourcetest.Serve(t, sourcetest.Options{})
	host := strings.TrimPrefix(registry.URL, "http://")
	archive := sourcetest.Archive(t, "shared", map[string]string{
		"Chart.yaml":       "{apiVersion: v2, name: shared, version: 1.0.0}",
		"templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {version: {{ .Chart.Version }}}\n",
	})
	for _, tag := range []string{"1.0.0", "2.0.0", "latest", "stable"} {
		registry.PutImage(t, "charts/shared", tag, archive)
	}
	registry.Put("/v2/charts/shared/tags/list", []byte(`{"name":"charts/shared","tags":["1.0.0","2.0.0","latest","stable"]}`))
	for ref, want := range map[string]string{
		"{tag: 1.0.0}":  "a=map[version:1.0.0+",
		"{tag: stable}": "a=map[version:1.0.0+",
		"{}":            "a=map[version:1.0.0+",
		"{tag: 2.0.0}":  "artifact revision 2.0.0 does not match chart version 1.0.0",
		// A tag chosen from a range is checked against the chart like one that is named.
		"{semver: '^1'}":              "a=map[version:1.0.0+",
		"{semver: '>=1.0.0'}":         "artifact revision 2.0.0 does not match chart version 1.0.0",
		"{semver: '>=2', tag: 1.0.0}": "artifact revision 2.0.0 does not match chart version 1.0.0",
	} {
		if got := d.planOfShared(host, ref); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", ref, got, want)
		}
	}
}

// planOfShared returns what is planned for a HelmRelease whose chart comes from an OCIRepository
// with the ref, or the error.
func (d *desk) planOfShared(host, ref string) string {
	d.t.Helper()
	d.file("source.yaml", fmt.Sprintf("apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: shared, namespace: shop}\nspec: {interval: 1m, url: \"oci://%s/charts/shared\", ref: %s}\n", host, ref))
	d.releaseFile("release.yaml", "web", "chartRef: {kind: OCIRepository, name: shared}")
	return d.texts("source.yaml release.yaml --plain-http --base-dir /dev/null")
}

// ref.semver of an OCIRepository chooses among the tags that match semverFilter.
func TestSemverFilterOfAnOCIRepository(t *testing.T) {
	d := atDesk(t)
	registry := sourcetest.Serve(t, sourcetest.Options{})
	host := strings.TrimPrefix(registry.URL, "http://")
	var tags []string
	for _, version := range []string{"1.0.0", "1.1.0", "1.2.0-rc.1", "v2.0.0"} {
		tags = append(tags, `"`+version+`"`)
		registry.PutImage(t, "charts/shared", version, sourcetest.Archive(t, "shared", map[string]string{
			"Chart.yaml":       "{apiVersion: v2, name: shared, version: " + version + "}",
			"templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {version: {{ .Chart.Version }}}\n",
		}))
	}
	registry.Put("/v2/charts/shared/tags/list", []byte(`{"name":"charts/shared","tags":[`+strings.Join(tags, ",")+`]}`))
	for ref, want := range map[string]string{
		"{semver: '^1'}":                                  "a=map[version:1.1.0+",
		"{semver: '*', tag: 1.0.0}":                       "a=map[version:2.0.0+",
		"{semver: '>=1.0.0-0', semverFilter: '-rc'}":      "a=map[version:1.2.0-rc.1+",
		"{semver: '>=1.0.0', semverFilter: '^1[.]0[.]'}":  "a=map[version:1.0.0+",
		"{semver: '>=1.0.0', semverFilter: nothing}":      "there is no version >=1.0.0",
		"{semver: '>=1.0.0', semverFilter: '('}":          "the regular expression for tags",
		"{tag: 1.0.0, semverFilter: 'of no use without'}": "a=map[version:1.0.0+",
	} {
		if got := d.planOfShared(host, ref); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", ref, got, want)
		}
	}
}

// Where an OCIRepository selects Helm's chart layer, _ in a tag stands for the + of a version; what semverFilter
// has to match is the tag. With --offline the tag that was chosen then is used.
func TestBuildMetadataInTagsOfAnOCIRepository(t *testing.T) {
	d := atDesk(t)
	registry := sourcetest.Serve(t, sourcetest.Options{})
	host := strings.TrimPrefix(registry.URL, "http://")
	for _, version := range []string{"1.0.0", "1.1.0+4", "1.2.0+x"} {
		registry.PutImage(t, "charts/shared", strings.ReplaceAll(version, "+", "_"), sourcetest.Archive(t, "shared", map[string]string{
			"Chart.yaml":       "{apiVersion: v2, name: shared, version: " + version + "}",
			"templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {version: {{ .Chart.Version }}}\n",
		}))
	}
	registry.Put("/v2/charts/shared/tags/list", []byte(`{"name":"charts/shared","tags":["1.0.0","1.1.0_4","1.2.0_x"]}`))
	const layer = ", layerSelector: {mediaType: application/vnd.cncf.helm.chart.content.v1.tar+gzip, operation: copy}"
	for _, c := range []struct{ ref, want string }{
		{"{semver: '^1'}", "a=map[version:1.0.0+"},
		{"{semver: '^1'}" + layer, "a=map[version:1.2.0+"},
		{"{semver: '^1', semverFilter: '_[0-9]'}" + layer, "a=map[version:1.1.0+"},
		{"{semver: '^1'}, layerSelector: {mediaType: other, operation: copy}", "a=map[version:1.0.0+"},
	} {
		if got := d.planOfShared(host, c.ref); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.ref, got, c.want)
		}
		if got := d.texts("source.yaml release.yaml --offline --base-dir /dev/null"); !strings.Contains(got, c.want) {
			t.Errorf("offline, %s: %s, want %s", c.ref, got, c.want)
		}
	}
}

// Sources in the cluster: helm-controller waits for one that is not ready, and its artifact
// determines the chart's version.
func TestSourcesInTheCluster(t *testing.T) {
	digest := func(c string) string { return "sha256:" + strings.Repeat(c, 64) }
	artifact := func(generation int, revision string) string {
		return fmt.Sprintf("{observedGeneration: %d, artifact: {url: 'http://a', revision: '%s'}}", generation, revision)
	}
	const spec = "{interval: 9m, url: 'oci://example.com/web', ref: {tag: 1.0.0}, provider: generic}"
	for _, c := range []struct{ why, spec, status, declared, action, note string }{
		{"the same", spec, artifact(1, "1.0.0@"+digest("a")), "", "nothing", "chart, values and post-renderers are those"},
		{"another digest at the same tag", spec, artifact(1, "1.0.0@"+digest("b")), "", "upgrade", "the chart's version changes from 1.0.0+aaaaaaaaaaaa to 1.0.0+bbbbbbbbbbbb"},
		{"another tag", spec, artifact(1, "9.9.9@"+digest("a")), "", "fail", "artifact revision 9.9.9 does not match chart version 1.0.0"},
		{"no artifact", spec, "{observedGeneration: 1}", "", "wait", "waits for OCIRepository/shop/web, which is not ready: does not have an artifact"},
		{"a generation that nobody has looked at", spec, artifact(0, "1.0.0@"+digest("a")), "", "wait", "latest generation of object has not been reconciled"},
		{"no source", "", "", "", "fail", "OCIRepository/shop/web is neither in the cluster nor in the repository"},
		{"the change makes it", "", "", "{interval: 1m, url: 'oci://example.com/web', ref: {tag: 1.0.0}}", "nothing", "with +aaaaaaaaaaaa as it is deployed"},
		{"the change does not touch what decides", spec, artifact(1, "1.0.0@"+digest("b")), "{interval: 1m, url: 'oci://example.com/web', ref: {tag: 1.0.0}}", "upgrade", "to 1.0.0+bbbbbbbbbbbb"},
		{"the change mends it", spec, "{observedGeneration: 1}", "{interval: 1m, url: 'oci://example.com/other', ref: {tag: 1.0.0}}", "nothing", "OCIRepository/shop/web is not ready now: does not have an artifact; the change replaces it"},
	} {
		t.Run(c.why, func(t *testing.T) {
			d := atDesk(t)
			version := "1.0.0+" + strings.Repeat("a", 12)
			d.file("web/Chart.yaml", "{apiVersion: v2, name: web, version: "+version+"}")
			d.must("install web ./web")
			d.file("web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0}")
			d.helmRelease("", noValues)
			live := d.Objects[manifest.ID{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "shop", Name: "web"}].DeepCopy()
			live.Object["spec"] = map[string]any{"interval": "1m", "chartRef": map[string]any{"kind": "OCIRepository", "name": "web"}}
			status := live.Object["status"].(map[string]any)
			status["lastAttemptedRevision"] = version
			status["history"].([]any)[0].(map[string]any)["chartVersion"] = version
			d.Put(live)
			if c.spec != "" {
				d.Put(objecttest.Parse(t, "{apiVersion: source.toolkit.fluxcd.io/v1, kind: OCIRepository, metadata: {name: web, namespace: shop, generation: 1}, spec: "+c.spec+", status: "+c.status+"}"))
			}
			d.releaseFile("release.yaml", "web", "chartRef: {kind: OCIRepository, name: web}")
			files := "release.yaml"
			if c.declared != "" {
				d.file("source.yaml", "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: web, namespace: shop}\nspec: "+c.declared+"\n")
				files += " source.yaml"
			}
			web := d.planned(files + " --source OCIRepository/shop/web=web")["web"]
			if web.Verdict == nil || web.Verdict.Action != c.action || !strings.Contains(strings.Join(web.Verdict.Notes, "; "), c.note) {
				t.Errorf("%+v %s, want %s because of %s", web.Verdict, web.Error, c.action, c.note)
			}
		})
	}
}

// In the cluster, the repository itself may be at a different commit from the checkout.
func TestTheRepositoryIsAtAnotherCommit(t *testing.T) {
	d := atDesk(t)
	d.must("install web ./web")
	d.helmRelease("values: {text: two}", noValues)
	git := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", ".")
	git("add", ".")
	git("commit", "-qm", "one")
	head := git("rev-parse", "HEAD")
	for revision, want := range map[string]string{
		"main@sha1:" + head:                    "",
		"main@sha1:" + strings.Repeat("0", 40): "GitRepository/shop/fleet is at main@sha1:" + strings.Repeat("0", 40) + " in the cluster, but the plan is compared with commit " + head + ": changes in between are applied, too",
		"":                                     "GitRepository/shop/fleet is not ready: does not have an artifact; nothing of the change is applied before it is",
	} {
		status := "{observedGeneration: 1}"
		if revision != "" {
			status = "{observedGeneration: 1, artifact: {url: 'http://a', revision: '" + revision + "'}}"
		}
		d.Put(objecttest.Parse(t, "{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: fleet, namespace: shop, generation: 1}, spec: {interval: 1m, url: 'https://example.com/fleet'}, status: "+status+"}"))
		notes := strings.Join(d.planned("release.yaml")["web"].Verdict.Notes, "; ")
		if said := strings.Contains(notes, "GitRepository/shop/fleet is"); said != (want != "") || !strings.Contains(notes, want) {
			t.Errorf("%s: %s, want %s", revision, notes, want)
		}
	}
}

// Objects without a namespace are all in the same one.
func TestObjectsWithoutANamespace(t *testing.T) {
	d := atDesk(t)
	d.file("web.yaml", `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: fleet}
spec: {interval: 1m, url: "https://example.com/fleet"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {values.yaml: "text: two"}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web}
spec:
  interval: 1m
  chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet}}}
  valuesFrom: [{kind: ConfigMap, name: settings}]
`)
	if got, want := d.texts("web.yaml --base-dir /dev/null --offline"), "web=map[text:two]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if notes := strings.Join(d.planned("web.yaml --base-dir /dev/null --offline")["web"].Verdict.Notes, "; "); strings.Contains(notes, "not in this repository") || strings.Contains(notes, "not known") {
		t.Error(notes)
	}
}
