package command

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/objecttest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// noValues is the digest of no values.
const noValues = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// helmRelease writes release.yaml, a HelmRelease of the chart in ./web with more fields in its spec, and
// puts it into the cluster as helm-controller leaves it after releasing it as revision 1, with values of
// that digest.
func (d *desk) helmRelease(more, digest string) {
	d.t.Helper()
	spec := "{interval: 1m, chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet}}}, " + more + "}"
	head := "apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease"
	d.file("release.yaml", strings.ReplaceAll(head, ", ", "\n")+"\nmetadata: {name: web, namespace: shop}\nspec: "+spec+"\n")
	d.released(spec, digest)
}

// released puts a HelmRelease into the cluster as helm-controller leaves it after releasing it as
// revision 1, with values of that digest.
func (d *desk) released(spec, digest string) {
	d.t.Helper()
	d.Put(objecttest.Parse(d.t, fmt.Sprintf(`{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: web, namespace: shop, generation: 1}, spec: %s, status: {
		observedGeneration: 1, lastAttemptedGeneration: 1, lastAttemptedReleaseAction: install, lastAttemptedRevision: 1.0.0,
		lastAttemptedConfigDigest: "%[2]s", storageNamespace: shop, history: [{digest: "sha256:0", name: web, namespace: shop, version: 1,
		status: deployed, chartName: web, chartVersion: 1.0.0, configDigest: "%[2]s"}]}}`, spec, digest)))
}

func (a answer) has(t *testing.T, want ...string) {
	t.Helper()
	out := strings.Join(strings.Fields(a.out), " ")
	for _, text := range want {
		if !strings.Contains(out, text) {
			t.Errorf("%q is not in\n%s%s", text, a.out, a.err)
		}
	}
}

// drifted returns a desk with a release whose ConfigMap differs from revision 1.
func drifted(t *testing.T) *desk {
	d := atDesk(t)
	d.must("install web ./web")
	id := manifest.ID{Kind: "ConfigMap", Namespace: "shop", Name: "web"}
	o := d.Objects[id].DeepCopy()
	o.Object["data"].(map[string]any)["text"] = "by hand"
	d.Put(o)
	return d
}

// Check 30 of FLUX.md, as far as a plan shows it.
func TestCheck30Drift(t *testing.T) {
	for _, c := range []struct {
		detection string
		want      []string
	}{
		{"mode: enabled", []string{"correct drift", "live objects differ", "ConfigMap shop/web has drifted: data.text", "by hand → one"}},
		{"mode: warn", []string{"nothing", "mode warn leaves them as they are", "ConfigMap shop/web has drifted: data.text"}},
		{"mode: disabled", []string{"nothing", "chart, values and post-renderers are those of the newest revision"}},
		{"mode: enabled, ignore: [{paths: [/data/text]}]", []string{"nothing", "chart, values and post-renderers are those"}},
		{"mode: enabled, ignore: [{paths: [/data/text], target: {kind: Config.*, name: web}}]", []string{"nothing", "chart, values and post-renderers"}},
		{"mode: enabled, ignore: [{paths: [/data/text], target: {kind: Config}}]", []string{"correct drift"}},
	} {
		t.Run(c.detection, func(t *testing.T) {
			d := drifted(t)
			d.helmRelease("driftDetection: {"+c.detection+"}", noValues)
			d.must("plan many release.yaml").has(t, c.want...)
		})
	}
}

func TestDriftDetectionDisabledOnTheObject(t *testing.T) {
	d := drifted(t)
	o := d.Objects[manifest.ID{Kind: "ConfigMap", Namespace: "shop", Name: "web"}].DeepCopy()
	o.SetAnnotations(map[string]string{"helm.toolkit.fluxcd.io/driftDetection": "disabled"})
	d.Put(o)
	d.helmRelease("driftDetection: {mode: enabled}", noValues)
	d.must("plan many release.yaml").has(t, "nothing", "chart, values and post-renderers are those")
}

// Check 31 of FLUX.md: an object whose dry run is refused is named.
func TestCheck31DriftThatCanNotBeTold(t *testing.T) {
	d := drifted(t)
	d.Refuse = map[manifest.ID]*plan.Refusal{{Kind: "ConfigMap", Namespace: "shop", Name: "web"}: {Reason: "Invalid", Message: "a webhook refuses it"}}
	d.helmRelease("driftDetection: {mode: enabled}", noValues)
	d.must("plan many release.yaml").has(t, "fail", "a dry run failed", "ConfigMap shop/web can't be compared")
}

// Values that the repository does not have are read from the cluster, and what comes from
// Secrets is masked.
func TestValuesAreReadFromTheCluster(t *testing.T) {
	const canary = "canary-in-a-secret"
	d := atDesk(t)
	d.must("install web ./web")
	d.helmRelease("valuesFrom: [{kind: ConfigMap, name: texts}, {kind: Secret, name: keys, valuesKey: key, targetPath: text}]", noValues)
	a := d.types("plan many release.yaml")
	if a.has(t, "can't be planned", "could not resolve ConfigMap chart values reference 'shop/texts'"); a.code != exitError {
		t.Errorf("exit code %d", a.code)
	}
	d.Put(objecttest.Parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: texts, namespace: shop}, data: {values.yaml: 'password: two'}}"))
	d.Put(objecttest.Parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: keys, namespace: shop}, data: {key: Y2FuYXJ5LWluLWEtc2VjcmV0}}"))
	for _, output := range []string{"text", "json", "markdown", "html"} {
		a = d.must("plan many release.yaml -o " + output)
		a.has(t, "upgrade", "the values change")
		if strings.Contains(a.out+a.err, canary) {
			t.Errorf("-o %s quotes the Secret:\n%s", output, a.out)
		}
	}
}

// Check 17 of FLUX.md: without any permission on Secrets, equal digests prove that the values are
// unchanged, and so does an equal HelmRelease.
func TestCheck17ValuesAreUnchangedByTheDigest(t *testing.T) {
	for _, c := range []struct {
		repository, live, digest, want string
	}{
		{"valuesFrom: [{kind: Secret, name: keys}]", "valuesFrom: []", noValues, "the values are unchanged, according to the digest in the HelmRelease's status"},
		{"valuesFrom: [{kind: Secret, name: keys}]", "valuesFrom: [{kind: Secret, name: keys}]", "sha256:1", "chart, values and post-renderers are those of the newest revision"},
		{"valuesFrom: [{kind: Secret, name: keys}]", "values: {text: two}", "sha256:1", "some values are not known; if they have changed it is an upgrade"},
	} {
		d := atDesk(t)
		d.must("install web ./web")
		d.helmRelease(c.live, c.digest)
		live := d.Objects[manifest.ID{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "shop", Name: "web"}]
		d.helmRelease(c.repository, c.digest)
		d.Put(live)
		d.Denied = map[plan.Permission]bool{{Verb: "get", Resource: "secrets", Namespace: "shop", Name: "keys"}: true}
		d.must("plan many release.yaml").has(t, c.want, "Secret shop/keys is not known")
	}
}

func TestPlansAsTheServiceAccount(t *testing.T) {
	d := atDesk(t)
	d.must("install web ./web")
	d.helmRelease("serviceAccountName: deployer, values: {text: two}", noValues)
	d.must("plan many release.yaml").has(t, "upgrade")
	if want := "system:serviceaccount:shop:deployer"; !slices.Contains(d.users, want) {
		t.Errorf("users %q, want %s", d.users, want)
	}
	d.users = nil
	d.Denied = map[plan.Permission]bool{{Verb: "impersonate", Resource: "serviceaccounts", Namespace: "shop", Name: "deployer"}: true}
	d.must("plan many release.yaml").has(t, "upgrade", "planned with your own permissions: you may not impersonate ServiceAccount shop/deployer")
	if len(d.users) > 0 {
		t.Errorf("users %q", d.users)
	}
}

// The cluster of spec.kubeConfig is queried with its Secret as it is in the cluster, never as it is in
// the repository.
func TestTheClusterOfAKubeconfig(t *testing.T) {
	const plain, sops = "stringData: {value: theirs}", "stringData: {value: 'ENC[AES256_GCM,data:a]'}\nsops: {version: 3.9.0}"
	for _, c := range []struct{ why, secret, declared, spec, asked, want string }{
		{"no Secret", "", "", "secretRef: {name: other}", "", "error: spec.kubeConfig: there is no Secret shop/other"},
		{"no key", "{more: YQ==}", "", "secretRef: {name: other}", "", "error: spec.kubeConfig: Secret shop/other does not hold the key"},
		{"value", "{value: YQ==}", "", "secretRef: {name: other}", "a", "upgrade: the values change"},
		{"value.yaml", "{value.yaml: YQ==}", "", "secretRef: {name: other}", "a", "upgrade: the values change"},
		{"another key", "{value: YQ==, more: Yg==}", "", "secretRef: {name: other, key: more}", "b", "upgrade: the values change"},
		{"encrypted in the repository", "{value: YQ==}", sops, "secretRef: {name: other}", "a", "upgrade: the values change"},
		{"as the repository has it", "{value: dGhlaXJz}", plain, "secretRef: {name: other}", "theirs", "upgrade: the values change"},
		{"the change makes it another one", "{value: YQ==}", plain, "secretRef: {name: other}", "", "unknown: spec.kubeConfig names another cluster, and is not followed: Secret shop/other differs between the repository and the cluster"},
		{"the change makes it", "", plain, "secretRef: {name: other}", "", "unknown: spec.kubeConfig names another cluster, and is not followed: Secret shop/other is not in the cluster yet"},
		{"the change takes the key", "{value: YQ==}", "stringData: {more: a}", "secretRef: {name: other}", "", "error: spec.kubeConfig: Secret shop/other does not hold the key"},
		{"a cloud's", "", "", "configMapRef: {name: other}", "", "unknown: spec.kubeConfig names another cluster, and is not followed: configMapRef"},
		{"nobody answers", "{value: Z29uZQ==}", "", "secretRef: {name: other}", "gone", "unknown: the cluster of spec.kubeConfig can't be asked: nobody answers"},
	} {
		t.Run(c.why, func(t *testing.T) {
			d := atDesk(t)
			d.must("install web ./web")
			d.helmRelease("values: {text: two}, kubeConfig: {"+c.spec+"}", noValues)
			if c.secret != "" {
				d.Put(objecttest.Parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: other, namespace: shop}, data: "+c.secret+"}"))
			}
			files := "release.yaml"
			if c.declared != "" {
				files += " secret.yaml"
				d.file("secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: other, namespace: shop}\n"+c.declared+"\n")
			}
			d.users = nil
			web := d.planned(files + " --all")["web"]
			text := "error: " + web.Error
			if web.Verdict != nil {
				text = web.Verdict.Action + ": " + strings.Join(web.Verdict.Notes, "; ")
			}
			if !strings.Contains(text, c.want) {
				t.Errorf("%s, want %s", text, c.want)
			}
			if asked := strings.Join(d.users, " "); asked != c.asked {
				t.Errorf("asked by %q, want %q", asked, c.asked)
			}
		})
	}
}

// The same goes for the cluster of a HelmRelease that is removed from the repository.
func TestAReleaseThatLeavesAnotherCluster(t *testing.T) {
	for _, c := range []struct {
		kubeconfig string
		planned    bool
	}{{"YQ==", true}, {"Z29uZQ==", false}} {
		d := atDesk(t)
		d.tree("base", "prune: true", webOf("")+", kubeConfig: {secretRef: {name: other}}", "one")
		d.tree("head", "prune: true", "", "one")
		d.must("install web ./base/charts/web")
		d.Put(objecttest.Parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: other, namespace: shop}, data: {value: "+c.kubeconfig+"}}"))
		t.Chdir("head")
		web := d.planned("--flux clusters/prod --base-dir ../base")["web"]
		if web.Verdict == nil || web.Verdict.Action != "uninstall" || (web.Plan != nil) != c.planned || len(d.users) != 1 {
			t.Errorf("%s: %+v %+v, asked by %q", c.kubeconfig, web.Verdict, web.Plan, d.users)
		}
		if said := strings.Contains(strings.Join(web.Verdict.Notes, "; "), "can't be asked"); said == c.planned {
			t.Errorf("%s: %q", c.kubeconfig, web.Verdict.Notes)
		}
	}
}

// Records are read from where the HelmRelease keeps them, not from the release's namespace.
func TestRecordsOfAnotherNamespace(t *testing.T) {
	d := atDesk(t)
	d.must("install web ./web")
	ctx := t.Context()
	records, err := d.client.CoreV1().Secrets("shop").List(ctx, metav1.ListOptions{LabelSelector: "owner=helm"})
	if err != nil || len(records.Items) != 1 {
		t.Fatalf("%v, %v", records, err)
	}
	moved := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: records.Items[0].Name, Namespace: "flux", Labels: records.Items[0].Labels}, Type: records.Items[0].Type, Data: records.Items[0].Data}
	if _, err := d.client.CoreV1().Secrets("flux").Create(ctx, moved, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := d.client.CoreV1().Secrets("shop").Delete(ctx, moved.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	d.helmRelease("releaseName: web, values: {text: two}", noValues)
	id := manifest.ID{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "shop", Name: "web"}
	live := d.Objects[id].DeepCopy()
	live.Object["status"].(map[string]any)["storageNamespace"] = "flux"
	live.SetNamespace("flux")
	live.Object["spec"].(map[string]any)["targetNamespace"] = "shop"
	d.Put(live)
	d.file("release.yaml", "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: flux}\nspec: {interval: 1m, releaseName: web, targetNamespace: shop, values: {text: three}, chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet}}}}\n")
	d.must("plan many release.yaml").has(t, "upgrade", "1 → 2", "data.text", "one → three")
}

// Check 29 of FLUX.md with a cluster: dependencies are looked up in the cluster, and a readyExpr is
// evaluated with self and dep.
func TestCheck29DependenciesInTheCluster(t *testing.T) {
	ready := func(status, message string) string {
		return "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: base, namespace: infra, generation: 1}, spec: {interval: 1m, values: {message: " + message + "}}, status: {observedGeneration: 1, conditions: [{type: Ready, status: '" + status + "'}]}}"
	}
	for _, c := range []struct{ why, base, more, action, note string }{
		{"none of that name", "", "", "wait", "waits for infra/base, which does not exist"},
		{"not ready", ready("False", "one"), "", "wait", "waits for infra/base, which is not ready"},
		{"ready", ready("True", "one"), "", "upgrade", "the values change"},
		{"self and dep", ready("False", "two"), "readyExpr: 'dep.spec.values.message == self.spec.values.text'", "upgrade", "the values change"},
		{"self and dep differ", ready("True", "one"), "readyExpr: 'dep.spec.values.message == self.spec.values.text'", "wait", "which is not ready according to its readyExpr"},
		{"a key that is not there", ready("True", "one"), "readyExpr: 'dep.status.gone.key'", "wait", "waits for infra/base: its readyExpr"},
		{"no expression", ready("True", "one"), "readyExpr: 'dep.'", "stall", "readyExpr of dependency infra/base"},
	} {
		d := atDesk(t)
		d.must("install web ./web")
		d.helmRelease("", noValues)
		if c.base != "" {
			d.Put(objecttest.Parse(t, c.base))
		}
		d.releaseFile("release.yaml", "web", "values: {text: two}, dependsOn: [{name: base, namespace: infra, "+c.more+"}], chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet}}}")
		web := d.planned("release.yaml")["web"]
		if web.Verdict == nil || web.Verdict.Action != c.action || !strings.Contains(strings.Join(web.Verdict.Notes, "; "), c.note) {
			t.Errorf("%s: %+v %s, want %s because of %s", c.why, web.Verdict, web.Error, c.action, c.note)
		}
	}
}

// A health check that does not compile stalls the HelmRelease, with or without a cluster.
func TestHealthChecksThatDoNotCompile(t *testing.T) {
	d := atDesk(t)
	d.releaseFile("release.yaml", "web", "healthCheckExprs: [{apiVersion: v1, kind: A, current: 'status.'}], chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet}}}")
	for _, line := range []string{"release.yaml", "release.yaml --offline --base-dir /dev/null"} {
		if web := d.planned(line)["web"]; web.Verdict == nil || web.Verdict.Action != "stall" || !strings.Contains(web.Verdict.Notes[0], "failed to parse the expression Current") {
			t.Errorf("%s: %+v %s", line, web.Verdict, web.Error)
		}
	}
}

// The metadata of a chart's version is that of the deployed one unless the change gives it another one, wherever
// the chart comes from.
func TestVersionMetadataInTheCluster(t *testing.T) {
	const file, revision, own, other = ", valuesFiles: [two.yaml]", ", reconcileStrategy: Revision", "{kind: GitRepository, name: fleet}", "{kind: GitRepository, name: other}"
	const sync, named = "nothing: chart, values and post-renderers are those of the newest revision", "chartRef: {kind: HelmChart, name: web}"
	digest := strings.Repeat("a", 12)
	artifact := "{apiVersion: source.toolkit.fluxcd.io/v1, kind: ExternalArtifact, metadata: {name: web, namespace: shop, generation: 1}, spec: {}, status: {artifact: {url: 'http://a', revision: '%s'}}}"
	packaged := "{apiVersion: source.toolkit.fluxcd.io/v1, kind: HelmChart, metadata: {name: web, namespace: shop, generation: 3}, spec: {interval: 1m, chart: ./web, version: '*', reconcileStrategy: ChartVersion, sourceRef: " + own + file + "}, status: {observedGeneration: 3, artifact: {url: 'http://a', revision: 1.0.0+3}}}"
	template := func(source, more string) string {
		return "chart: {spec: {chart: ./web, sourceRef: " + source + more + "}}"
	}
	for _, c := range []struct{ why, metadata, live, head, source, declared, want string }{
		{"valuesFiles", "3", template(own, file), template(own, file), "", "", sync},
		{"other valuesFiles", "3", template(own, file), template(own, ", valuesFiles: [three.yaml]"), "", "", "upgrade: the chart's version changes from 1.0.0+3 to 1.0.0+generation"},
		{"the interval", "3", template(own, file), template(own, file+", interval: 9m"), "", "", "upgrade: the chart's version changes from 1.0.0+3 to 1.0.0+generation"},
		{"no valuesFiles any more", "3", template(own, file), template(own, ""), "", "", "upgrade: the chart's version changes from 1.0.0+3 to 1.0.0"},
		{"Revision", digest, template(own, revision), template(own, revision), "", "", sync},
		{"Revision of another source", digest, template(other, revision), template(other, revision), "", "", sync},
		{"an artifact", digest, "chartRef: {kind: ExternalArtifact, name: web}", "chartRef: {kind: ExternalArtifact, name: web}", fmt.Sprintf(artifact, "latest@sha256:"+strings.Repeat("a", 64)), "", sync},
		{"another artifact", digest, "chartRef: {kind: ExternalArtifact, name: web}", "chartRef: {kind: ExternalArtifact, name: web}", fmt.Sprintf(artifact, "latest@sha256:"+strings.Repeat("b", 64)), "", "upgrade: the chart's version changes from 1.0.0+aaaaaaaaaaaa to 1.0.0+bbbbbbbbbbbb"},
		{"an artifact without a digest", "", "chartRef: {kind: ExternalArtifact, name: web}", "chartRef: {kind: ExternalArtifact, name: web}", fmt.Sprintf(artifact, "latest"), "", sync},
		{"a HelmChart", "3", named, named, packaged, "interval: 1m" + file, sync},
		{"another HelmChart", "3", named, named, packaged, "interval: 9m" + file, "upgrade: the chart's version changes from 1.0.0+3 to 1.0.0+generation"},
	} {
		t.Run(c.why, func(t *testing.T) {
			d := atDesk(t)
			version := strings.TrimSuffix("1.0.0+"+c.metadata, "+")
			d.file("web/Chart.yaml", "{apiVersion: v2, name: web, version: "+version+"}")
			d.must("install web ./web")
			d.file("web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0}")
			d.file("two.yaml", "text: one\n")
			d.file("three.yaml", "text: one\n")
			d.file("vendor/web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0}")
			d.file("chart.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: none}\n")
			if c.declared != "" {
				d.file("chart.yaml", "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmChart\nmetadata: {name: web, namespace: shop}\nspec: {chart: ./web, sourceRef: "+own+", "+c.declared+"}\n")
			}
			d.released("{interval: 1m, "+c.live+"}", noValues)
			live := d.Objects[manifest.ID{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "shop", Name: "web"}].DeepCopy()
			status := live.Object["status"].(map[string]any)
			status["lastAttemptedRevision"] = version
			status["history"].([]any)[0].(map[string]any)["chartVersion"] = version
			d.Put(live)
			if c.source != "" {
				d.Put(objecttest.Parse(t, c.source))
			}
			d.releaseFile("release.yaml", "web", c.head)
			web := d.planned("release.yaml chart.yaml --source GitRepository/shop/other=vendor --source ExternalArtifact/shop/web=web")["web"]
			got := verdict(web)
			if !strings.HasPrefix(got, c.want) || strings.HasPrefix(got, c.want+"+") {
				t.Errorf("%s %s, want %s", got, web.Error, c.want)
			}
			if c.why == "an artifact without a digest" && strings.Contains(got, "metadata that is not known") {
				t.Errorf("%s", got)
			}
		})
	}
}

// New content of a chart that is versioned by its digest is a new version, also if the cluster has the former artifact.
func TestNewContentOfAnArtifact(t *testing.T) {
	for revision, want := range map[string]string{
		"latest@sha256:" + strings.Repeat("a", 64): "upgrade: the chart's version changes from 1.0.0+aaaaaaaaaaaa to 1.0.0+digest",
		"latest": "nothing: ",
	} {
		d := atDesk(t)
		version := "1.0.0"
		if revision != "latest" {
			version += "+aaaaaaaaaaaa"
		}
		d.file("web/Chart.yaml", "{apiVersion: v2, name: web, version: "+version+"}")
		d.must("install web ./web")
		const spec = "chartRef: {kind: ExternalArtifact, name: web}"
		for _, side := range []string{"base", "head"} {
			d.file(side+"/web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0}")
			d.file(side+"/web/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {text: "+side+"}\n")
			d.releaseFile(side+"/release.yaml", "web", spec)
		}
		d.released("{interval: 1m, "+spec+"}", noValues)
		live := d.Objects[manifest.ID{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "shop", Name: "web"}].DeepCopy()
		status := live.Object["status"].(map[string]any)
		status["lastAttemptedRevision"] = version
		status["history"].([]any)[0].(map[string]any)["chartVersion"] = version
		d.Put(live)
		d.Put(objecttest.Parse(t, "{apiVersion: source.toolkit.fluxcd.io/v1, kind: ExternalArtifact, metadata: {name: web, namespace: shop, generation: 1}, spec: {}, status: {artifact: {url: 'http://a', revision: '"+revision+"'}}}"))
		t.Chdir("head")
		web := d.planned("release.yaml --base-dir ../base --all --source ExternalArtifact/shop/web=web")["web"]
		if got := verdict(web); !strings.HasPrefix(got, want) || strings.HasPrefix(got, "nothing") && strings.Contains(got, "metadata that is not known") {
			t.Errorf("%s: %s %s, want %s", revision, got, web.Error, want)
		}
	}
}

// Two HelmReleases may have the same release in different clusters. One that moves to another cluster leaves its
// release in the one that it had.
func TestTheSameReleaseInTwoClusters(t *testing.T) {
	release := func(name, namespace, more string) string {
		return "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: " + name + ", namespace: " + namespace + "}\nspec: {interval: 1m, targetNamespace: shop, releaseName: web, chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet}}}, " + more + "}\n"
	}
	other := func(key string) string { return "kubeConfig: {secretRef: {name: other" + key + "}}" }
	d := atDesk(t)
	d.file("release.yaml", release("web", "a", other(""))+"---\n"+release("web", "b", other(", key: more"))+"---\n"+release("here", "b", ""))
	d.Put(objecttest.Parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: other, namespace: a}, data: {value: YQ==}}"))
	d.Put(objecttest.Parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: other, namespace: b}, data: {more: Yg==}}"))
	for _, line := range []string{"release.yaml --offline --base-dir /dev/null", "release.yaml"} {
		var keys []string
		for _, r := range d.document(line).Releases {
			keys = append(keys, r.Key.String()+" "+verdict(r)[:7])
		}
		slices.Sort(keys)
		if got, want := strings.Join(keys, ", "), "Secret/a/other/shop/web install, Secret/b/other/more/shop/web install, shop/web install"; got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	if slices.Sort(d.users); !slices.Equal(slices.Compact(d.users), []string{"a", "b"}) {
		t.Errorf("asked by %q", d.users)
	}
	for _, c := range []struct{ base, head, was, is string }{{"", other(""), "shop/web", "Secret/a/other/shop/web"}, {other(""), "", "Secret/a/other/shop/web", "shop/web"}} {
		d := atDesk(t)
		d.file("release.yaml", release("web", "a", c.head))
		d.file("base/release.yaml", release("web", "a", c.base))
		d.file("base/web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0}")
		got := map[string]string{}
		for _, r := range d.document("release.yaml --offline --base-dir base").Releases {
			got[r.Key.String()] = verdict(r)
		}
		if is, was := got[c.is], got[c.was]; !strings.HasPrefix(is, "install: no release is stored") || was != "nothing: left running: HelmRelease a/web moves to another cluster, and leaves what it has in this one" {
			t.Errorf("%q", got)
		}
	}
}

// A kubeconfig under another name may be for the same cluster: the release is compared with what it was there.
func TestAnotherKubeconfigOfOneHelmRelease(t *testing.T) {
	const other, says = "kubeConfig: {secretRef: {name: other}}", "unknown: kubeConfig names another object; if that is the same cluster, "
	const two = ", values: {text: two}"
	for _, c := range []struct{ base, head, want, left string }{
		{other, "kubeConfig: {secretRef: {name: other-v2}}" + two, says + "the release is upgraded; ", ""},
		{other, "kubeConfig: {secretRef: {name: other, key: value.yaml}}" + two, says + "the release is upgraded; ", ""},
		{other, "kubeConfig: {configMapRef: {name: other}}" + two, says + "the release is upgraded; ", ""},
		{other, "kubeConfig: {secretRef: {name: other-v2}}", says + "nothing happens; ", ""},
		{other, "kubeConfig: {secretRef: {name: other-v2}}, suspend: true", "nothing: ", ""},
		{other, "kubeConfig: {secretRef: {name: other-v2}}, releaseName: front", says + "the former release is uninstalled, and the new one installed; ", "unknown: kubeConfig names another object; if that is the same cluster, this release is uninstalled"},
	} {
		d := atDesk(t)
		d.tree("base", "prune: true", webOf("")+", "+c.base, "one")
		d.tree("head", "prune: true", webOf("")+", "+c.head, "one")
		t.Chdir("head")
		var got, left string
		releases := d.document(offlineFlux).Releases
		for _, r := range releases {
			if r.Left {
				left = verdict(r)
				continue
			}
			got = verdict(r)
			if strings.Contains(c.head, "two") && steps(r, "ConfigMap") != "patch" {
				t.Errorf("%s: the ConfigMap: %q", c.head, steps(r, "ConfigMap"))
			}
		}
		if !strings.HasPrefix(got, c.want) || !strings.HasPrefix(left, c.left) || (left == "") != (c.left == "") {
			t.Errorf("%s: %q, left %q", c.head, got, left)
		}
	}
}

// Nothing of a release is in the cluster to which it moves, also if it gets another name at once.
func TestAHelmReleaseThatMovesToAnotherClusterUnderAnotherName(t *testing.T) {
	const other = ", kubeConfig: {secretRef: {name: other}}"
	for _, more := range []string{", releaseName: front", ", targetNamespace: shop, releaseName: front", ", storageNamespace: records, releaseName: front"} {
		for _, live := range []bool{false, true} {
			d := atDesk(t)
			d.tree("base", "prune: true", webOf(""), "one")
			d.tree("head", "prune: true", webOf("")+other+more, "one")
			line := offlineFlux
			if live {
				line = strings.Replace(line, " --offline", "", 1)
				d.Put(objecttest.Parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: other, namespace: shop}, data: {value: YQ==}}"))
				d.released("{interval: 1m, "+webOf("")+"}", noValues)
			}
			t.Chdir("head")
			all := d.planned(line)
			if is, was := verdict(all["front"]), verdict(all["web"]); !strings.HasPrefix(is, "install: ") || !strings.HasPrefix(was, "nothing: left running: HelmRelease shop/web moves to another cluster") {
				t.Errorf("%s, live %t: %s; %s", more, live, is, was)
			}
		}
	}
}

// Check 15 of FLUX.md with a cluster: objects that hold unknown values are estimated, and such a plan
// can't be saved, so no marker is ever written.
func TestCheck15MarkersAreNeverWritten(t *testing.T) {
	d := atDesk(t)
	d.must("install web ./web")
	d.helmRelease("valuesFrom: [{kind: Secret, name: keys, valuesKey: key, targetPath: text}]", noValues)
	d.Denied = map[plan.Permission]bool{{Verb: "get", Resource: "secrets", Namespace: "shop", Name: "keys"}: true}
	d.file("web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.1.0}")
	web := d.planned("release.yaml")["web"]
	if web.Plan == nil {
		t.Fatalf("%+v", web)
	}
	marked := 0
	web.Plan.Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Body != nil && strings.Contains(fmt.Sprint(s.Body.Object), "(unknown Secret/shop/keys key)") {
			if marked++; s.Fidelity != plan.FidelityEstimated {
				t.Errorf("%s is %s", s.Object, s.Fidelity)
			}
		}
	})
	if marked != 1 {
		t.Errorf("%d objects hold the marker", marked)
	}
	a := d.types("plan many release.yaml --out plans")
	if want := "the plan of shop/web can't be saved: what it would write is not known without Secret shop/keys"; a.code != exitError || !strings.Contains(a.err, want) {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
}
