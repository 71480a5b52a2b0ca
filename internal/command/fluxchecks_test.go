package command

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/objecttest"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// document runs a line of plan many and returns what it prints as JSON.
func (d *desk) document(line string) (made releaseset.Document) {
	d.t.Helper()
	a := d.types("plan many " + line + " -o json")
	if err := json.Unmarshal([]byte(a.out), &made); err != nil {
		d.t.Fatalf("%s: %v\n%s%s", line, err, a.out, a.err)
	}
	return made
}

// planned runs a line of plan many and returns its results by release name.
func (d *desk) planned(line string) map[string]releaseset.Planned {
	d.t.Helper()
	out := map[string]releaseset.Planned{}
	for _, r := range d.document(line).Releases {
		out[r.Release.Name] = r
	}
	return out
}

// steps returns a plan's operations on objects of a kind, as one line: "create patch".
func steps(r releaseset.Planned, kind string) string {
	var out []string
	if r.Plan != nil {
		r.Plan.Steps(func(_ plan.StageName, s *plan.Step) {
			if s.Object.Kind == kind && s.Op != plan.OpWait && s.Op != plan.OpNone {
				out = append(out, string(s.Op))
			}
		})
	}
	return strings.Join(out, " ")
}

// originLabels returns those of the first step on an object of a kind, as "namespace/name".
func originLabels(r releaseset.Planned, kind string) (out string) {
	r.Plan.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Object.Kind == kind && s.Body != nil && out == "" {
			labels := s.Body.GetLabels()
			out = labels["helm.toolkit.fluxcd.io/namespace"] + "/" + labels["helm.toolkit.fluxcd.io/name"]
		}
	})
	return out
}

func (d *desk) releaseFile(name, release, more string) {
	d.file(name, fmt.Sprintf("apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: %s, namespace: shop}\nspec: {interval: 1m, %s}\n", release, more))
}

func TestCheck6And7CRDs(t *testing.T) {
	const definition = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: as.example.com}, spec: {
		group: example.com, scope: Namespaced, names: {kind: A, plural: as}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object%s}}}]}}`
	for _, c := range []struct {
		policy string
		there  bool
		want   string
	}{
		{"timeout: 1m", false, "create"},
		{"timeout: 1m", true, ""},
		{"crds: Skip", false, ""},
		{"crds: Create", false, "create"},
		{"crds: Create", true, ""},
		{"crds: CreateReplace", false, "create"},
		{"crds: CreateReplace", true, "patch"},
	} {
		d := atDesk(t)
		d.must("install web ./web")
		if c.there {
			d.Put(objecttest.Parse(t, fmt.Sprintf(definition, "")))
		}
		d.file("web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.1.0}")
		d.file("web/crds/a.yaml", fmt.Sprintf(definition, ", description: more"))
		d.helmRelease("upgrade: {"+c.policy+"}", noValues)
		web := d.planned("release.yaml")["web"]
		if got := steps(web, "CustomResourceDefinition"); web.Verdict == nil || web.Verdict.Action != "upgrade" || got != c.want {
			t.Errorf("%s, there already: %t: %v, CRD %q, want %q", c.policy, c.there, web.Verdict, got, c.want)
		}
		if labels := originLabels(web, "CustomResourceDefinition"); c.want != "" && labels != "shop/web" {
			t.Errorf("%s: the CRD has origin %q", c.policy, labels)
		}
		d.file("web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.2.0}")
		d.file("web/crds/a.yaml", "")
		if got := steps(d.planned("release.yaml")["web"], "CustomResourceDefinition"); got != "" {
			t.Errorf("%s: a CRD that left the chart: %s", c.policy, got)
		}
	}
}

func TestCheck10ValuesFiles(t *testing.T) {
	for _, c := range []struct{ files, want string }{
		{"[env/prod.yaml]", "map[text:prod]"},
		{"[env/other.yaml]", "map[text:]"}, // the chart's own values do not count
		{"[web/values.yaml, env/prod.yaml]", "prod"},
		{"[env/prod.yaml, web/values.yaml]", "one"},
		{"[values.yaml]", "one"},
		{"[gone.yaml]", "gone.yaml"},
		{"[env/prod.yaml, gone.yaml], ignoreMissingValuesFiles: true", "prod"},
	} {
		d := atDesk(t)
		d.file("env/prod.yaml", "text: prod\n")
		d.file("env/other.yaml", "other: text\n")
		d.releaseFile("release.yaml", "web", "chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet}, valuesFiles: "+c.files+"}}")
		web := d.planned("release.yaml --offline --base-dir /dev/null")["web"]
		text := web.Error
		if web.Plan != nil {
			web.Plan.Steps(func(_ plan.StageName, s *plan.Step) {
				if s.Object.Kind == "ConfigMap" {
					text = fmt.Sprint(s.Body.Object["data"])
				}
			})
		}
		if !strings.Contains(text, c.want) {
			t.Errorf("%s: %s, want %s", c.files, text, c.want)
		}
	}
}

// The version of a chart has the generation of its HelmChart if valuesFiles are set, so that any change of the
// HelmChart's spec is a new version; so is another strategy.
func TestCheck10ChangesOfTheHelmChart(t *testing.T) {
	const file, renewed = "valuesFiles: [two.yaml]", "upgrade: the chart's version changes from 1.0.0 to 1.0.0"
	for _, c := range []struct{ why, base, head, want string }{
		{"another file", file, "valuesFiles: [three.yaml]", renewed + "+generation"},
		{"one more file", file, "valuesFiles: [two.yaml, three.yaml]", renewed + "+generation"},
		{"the first file", "", file, renewed + "+generation"},
		{"no file any more", file, "", "upgrade: the chart's version changes from 1.0.0+generation to 1.0.0"},
		{"the chart's own values", "", "valuesFiles: [values.yaml]", ""},
		{"the interval with files", file, file + ", interval: 9m", renewed + "+generation"},
		{"the interval without", "", "interval: 9m", ""},
		{"a default", file, file + ", reconcileStrategy: ChartVersion, version: '*', ignoreMissingValuesFiles: false", ""},
		{"to Revision", "", "reconcileStrategy: Revision", renewed + "+commit"},
		{"from Revision", "reconcileStrategy: Revision", "reconcileStrategy: ChartVersion", "upgrade: the chart's version changes from 1.0.0+commit to 1.0.0"},
		{"suspended", file, file + ", suspend: true", "nothing: "},
		{"suspended, to Revision", "", "reconcileStrategy: Revision, suspend: true", "nothing: "},
		{"suspended, no file any more", file, "suspend: true", "nothing: "},
		{"to both", "", "reconcileStrategy: Revision, " + file, renewed + "+commit.generation"},
	} {
		for _, kind := range []string{"GitRepository", "HelmRepository", "HelmChart"} {
			if strings.Contains(c.head, "suspend") && kind != "HelmChart" {
				continue
			}
			want := c.want
			if kind == "HelmRepository" && strings.Contains(c.why, "Revision") {
				want = "" // it has no effect
			} else if kind == "HelmRepository" {
				want = strings.Replace(want, "commit.", "", 1)
			}
			d := atDesk(t)
			for side, more := range map[string]string{"base": c.base, "head": c.head} {
				for _, dir := range []string{side, side + "/web"} {
					d.file(dir+"/two.yaml", "text: one\n")
					d.file(dir+"/three.yaml", "text: one\n")
				}
				d.file(side+"/web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0}")
				d.file(side+"/web/values.yaml", "text: one\n")
				d.file(side+"/web/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {text: {{ .Values.text }}}\n")
				if kind == "HelmChart" {
					if !strings.Contains(more, "interval") {
						more += ", interval: 1m"
					}
					d.file(side+"/chart.yaml", "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmChart\nmetadata: {name: web, namespace: shop}\nspec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet}, "+strings.TrimPrefix(more, ", ")+"}\n")
					d.releaseFile(side+"/release.yaml", "web", "chartRef: {kind: HelmChart, name: web}")
				} else {
					d.file(side+"/chart.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: none}\n")
					d.releaseFile(side+"/release.yaml", "web", "chart: {spec: {chart: ./web, sourceRef: {kind: "+kind+", name: fleet}, "+more+"}}")
				}
			}
			t.Chdir("head")
			web := d.planned("release.yaml chart.yaml --offline --base-dir ../base --source HelmRepository/shop/fleet=web")["web"]
			if got := verdict(web); want == "" && strings.HasPrefix(got, "upgrade") || !strings.HasPrefix(got, want) || strings.HasPrefix(got, want+"+") {
				t.Errorf("%s, %s: %q %s, want %q", c.why, kind, got, web.Error, want)
			}
			if touched := c.base != c.head && (kind != "HelmChart" || want != ""); web.Touched != touched {
				t.Errorf("%s, %s: touched %t", c.why, kind, web.Touched)
			}
		}
	}
	// The HelmRelease's interval is the HelmChart's.
	for more, want := range map[string]string{file: renewed, file + ", interval: 1m": "nothing: ", "": "nothing: "} {
		d := atDesk(t)
		d.file("two.yaml", "text: one\n")
		spec := "chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet}, " + more + "}}"
		d.releaseFile("release.yaml", "web", spec)
		d.file("base/release.yaml", "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: shop}\nspec: {interval: 5m, "+spec+"}\n")
		d.file("base/two.yaml", "text: one\n")
		for _, name := range []string{"Chart.yaml", "values.yaml", "templates/all.yaml"} {
			if text, err := os.ReadFile("web/" + name); err == nil {
				d.file("base/web/"+name, string(text))
			}
		}
		if got := verdict(d.planned("release.yaml --offline --base-dir base")["web"]); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", more, got, want)
		}
	}
}

// Check 9 of FLUX.md: each commit is a version of a chart that is packaged by revision. Releases that nothing else
// touches share a warning; what touches one upgrades it.
func TestCheck9EachCommitIsAVersion(t *testing.T) {
	const revision = ", reconcileStrategy: Revision"
	const warning = "upgraded with each commit, which is a new version of the chart (reconcileStrategy: Revision), and otherwise not touched: shop/web"
	for _, c := range []struct{ why, base, head, want, warns string }{
		{"nothing else", webOf(revision), webOf(revision), "untouched", warning},
		{"by version", webOf(""), webOf(""), "untouched", ""},
		{"suspended", webOf(revision) + ", suspend: true", webOf(revision) + ", suspend: true", "untouched", ""},
		{"an option", webOf(revision), webOf(revision) + ", timeout: 9m", "upgrade: the chart's version changes from 1.0.0 to 1.0.0+commit", ""},
		{"an option, by version", webOf(""), webOf("") + ", timeout: 9m", "nothing: ", ""},
	} {
		d := atDesk(t)
		d.tree("base", "prune: true", c.base, "one")
		d.tree("head", "prune: true", c.head, "one")
		d.file("head/README.md", "more")
		t.Chdir("head")
		made := d.document(offlineFlux)
		got := verdict(made.Releases[0])
		if r := made.Releases[0]; !r.Touched && r.Error == "" {
			got = "untouched"
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
		if got := strings.Join(made.Warnings, "\n"); got != c.warns {
			t.Errorf("%s: warnings %q, want %q", c.why, got, c.warns)
		}
	}
}

func TestCheck14ConfigMapOfValuesChanges(t *testing.T) {
	d := atDesk(t)
	for _, side := range []string{"base", "head"} {
		d.file(side+"/apps/values.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: texts, namespace: shop}\ndata: {values.yaml: 'text: "+side+"'}\n")
		d.releaseFile(side+"/apps/web.yaml", "web", "chart: {spec: {chart: ./apps/web, sourceRef: {kind: GitRepository, name: fleet}}}, valuesFrom: [{kind: ConfigMap, name: texts}]")
		d.file(side+"/apps/web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0}")
		d.file(side+"/apps/web/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {text: {{ .Values.text }}}\n")
	}
	t.Chdir("head")
	web := d.planned("apps --offline --base-dir ../base")["web"]
	if web.Verdict == nil || web.Verdict.Action != "upgrade" || steps(web, "ConfigMap") != "patch" {
		t.Errorf("%+v, %s", web.Verdict, steps(web, "ConfigMap"))
	}
}

func TestCheck16WithoutASecretThatIsRequired(t *testing.T) {
	d := atDesk(t)
	d.file("needs/Chart.yaml", "{apiVersion: v2, name: needs, version: 1.0.0}")
	d.file("needs/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: '{{ required \"a key\" .Values.key }}'}\n")
	d.releaseFile("apps/needs.yaml", "needs", "chart: {spec: {chart: ./needs, sourceRef: {kind: GitRepository, name: fleet}}}, valuesFrom: [{kind: Secret, name: keys}]")
	d.releaseFile("apps/web.yaml", "web", "chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet}}}")
	line := "apps --offline --base-dir /dev/null"
	all := d.planned(line)
	if !strings.Contains(all["needs"].Error, "can't be planned without Secret shop/keys") || all["web"].Plan == nil {
		t.Errorf("%+v", all)
	}
	if a := d.types("plan many " + line); a.code != exitError {
		t.Errorf("exit code %d", a.code)
	}
}

func TestCheck51CiphertextOfSOPSIsNoValue(t *testing.T) {
	const canary = "ENC[AES256_GCM,data:canary,iv:a,tag:b,type:str]"
	d := atDesk(t)
	d.releaseFile("apps/web.yaml", "web", "chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet}}}, valuesFrom: [{kind: Secret, name: keys, valuesKey: key, targetPath: text}]")
	d.file("apps/keys.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: keys, namespace: shop}\nstringData: {key: '"+canary+"'}\nsops: {version: 3.9.0}\n")
	for _, output := range []string{"text", "json", "markdown", "html"} {
		a := d.must("plan many apps --offline --base-dir /dev/null --show-secrets -o " + output)
		a.has(t, "Secret shop/keys is not known")
		if strings.Contains(a.out, "canary") {
			t.Errorf("-o %s has the ciphertext:\n%s", output, a.out)
		}
	}
}

func TestCheck52ATagOfManyReleases(t *testing.T) {
	d := atDesk(t)
	registry := sourcetest.Serve(t, sourcetest.Options{})
	for _, version := range []string{"1.0.0", "1.1.0"} {
		registry.PutImage(t, "charts/shared", version, sourcetest.Archive(t, "shared", map[string]string{
			"Chart.yaml":       "{apiVersion: v2, name: shared, version: " + version + "}",
			"templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"{{ .Release.Name }}\"}\ndata: {version: {{ .Chart.Version }}}\n",
		}))
	}
	for side, version := range map[string]string{"base": "1.0.0", "head": "1.1.0"} {
		d.file(side+"/apps/source.yaml", fmt.Sprintf("apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: shared, namespace: shop}\nspec: {interval: 1m, url: \"oci://%s/charts/shared\", ref: {tag: %s}}\n", strings.TrimPrefix(registry.URL, "http://"), version))
		for _, name := range []string{"a", "b", "c"} {
			d.releaseFile(side+"/apps/"+name+".yaml", name, "chartRef: {kind: OCIRepository, name: shared}")
		}
	}
	t.Chdir("head")
	all := d.planned("apps --plain-http --base-dir ../base")
	for _, name := range []string{"a", "b", "c"} {
		if r := all[name]; r.Plan == nil || !strings.HasPrefix(r.Plan.ChartTo.Version, "1.1.0+") {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
