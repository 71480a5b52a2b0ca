package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/objecttest"
)

// webOf refers to a chart of the repository as a HelmRelease does.
func webOf(more string) string {
	return "chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: fleet, namespace: flux-system}" + more + "}}"
}

// tree writes a repository with a HelmRelease below a Kustomization, a chart that contains a text,
// and a GitRepository.
func (d *desk) tree(dir, kustomization, spec, text string) {
	d.file(dir+"/clusters/prod/apps.yaml", "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\nspec: {interval: 1m, path: ./apps, sourceRef: {kind: GitRepository, name: fleet}, "+kustomization+"}\n")
	d.file(dir+"/apps/keep.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: keep, namespace: shop}\ndata: {values.yaml: 'text: kept', key: value}\n")
	if spec != "" {
		d.releaseFile(dir+"/apps/web.yaml", "web", spec)
	}
	d.file(dir+"/charts/web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0}")
	d.file(dir+"/charts/web/values.yaml", "text: one\n")
	d.file(dir+"/charts/web/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {chart: "+text+", text: {{ .Values.text | quote }}}\n")
	d.file(dir+"/charts/web/templates/b.yaml", "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: web}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n")
}

// What a pull request does and nobody else says (issue 15, FLUX.md §9): each sentence, as the whole
// program prints it. Checks 8, 9, 11, 24, 25, 26, 27, 28 and 54 of FLUX.md.
func TestSayingsOfAChange(t *testing.T) {
	const prunes, keeps = "prune: true", "prune: false"
	for _, c := range []struct {
		why                                 string
		baseOwner, owner, base, head, chart string
		action, says                        string
	}{
		{"8: the version is not bumped", prunes, prunes, webOf(""), webOf(""), "two", "nothing", "nothing will happen: chart version 1.0.0 is unchanged"},
		{"8: nor with other values", prunes, prunes, webOf(""), webOf("") + ", values: {text: two}", "two", "upgrade", "chart version 1.0.0 is unchanged: changes to the chart's files are not deployed"},
		{"9: packaged by revision", prunes, prunes, webOf(", reconcileStrategy: Revision"), webOf(", reconcileStrategy: Revision"), "two", "upgrade", "the chart's version gets metadata that is not known before the change is merged: it is estimated without"},
		{"11: targetPath", prunes, prunes, webOf(""), webOf("") + ", values: {text: inline}, valuesFrom: [{kind: ConfigMap, name: keep, valuesKey: key, targetPath: text}]", "one", "upgrade", "spec.valuesFrom[0]: targetPath text has no effect, spec.values sets it"},
		{"24: release name", prunes, prunes, webOf(""), webOf("") + ", releaseName: front", "one", "uninstall, then install", "the release name changes from web to front: release shop/web is uninstalled with all its objects, and the new one installed"},
		{"24: target namespace", prunes, prunes, webOf(""), webOf("") + ", releaseName: web, targetNamespace: other", "one", "uninstall, then install", "objects that set no namespace are left behind in shop, and objects with the same names in other are deleted"},
		{"24: storage namespace", prunes, prunes, webOf(""), webOf("") + ", storageNamespace: other", "one", "uninstall, then install", "the storage namespace changes from shop to other"},
		{"25: it goes, and the Kustomization prunes", prunes, prunes, webOf(""), "", "one", "uninstall", "Kustomization flux-system/apps prunes: the HelmRelease is deleted, and the release uninstalled"},
		{"25: it goes, and the Kustomization does not prune", keeps, keeps, webOf(""), "", "one", "nothing", "left running: Kustomization flux-system/apps does not prune"},
		{"25: it goes while suspended", prunes, prunes, webOf("") + ", suspend: true", "", "one", "nothing", "left running: the HelmRelease is suspended, and is deleted without an uninstall"},
		{"26: suspended", prunes, prunes, webOf("") + ", suspend: true", webOf("") + ", suspend: true, values: {text: two}", "one", "nothing", "suspended: nothing happens"},
		{"26: its Kustomization is suspended", prunes, prunes + ", suspend: true", webOf(""), webOf("") + ", values: {text: two}", "one", "nothing", "Kustomization flux-system/apps is suspended: nothing happens"},
		{"26: resumed", prunes, prunes, webOf("") + ", suspend: true", webOf("") + ", values: {text: two}", "one", "upgrade", "the change resumes the release: everything changed since it was suspended is applied now"},
		{"27: options", prunes, prunes, webOf(""), webOf("") + ", timeout: 9m, upgrade: {remediation: {retries: 3}}", "one", "nothing", "no release now; these count from the next action on: spec.timeout, spec.upgrade.remediation.retries"},
		{"28: post-renderers", prunes, prunes, webOf(""), webOf("") + ", postRenderers: [{kustomize: {images: [{name: a, newTag: b}]}}]", "one", "upgrade", "the post-renderers change"},
		{"34: nothing to roll back to", prunes, prunes, webOf(""), webOf("") + ", values: {text: two}", "one", "upgrade", "if it fails the HelmRelease stalls and the failed revision stays"},
		{"54: fields of a later API", prunes, prunes, webOf(""), webOf("") + ", values: {text: two}, later: true", "one", "upgrade", "spec.later is not a known field: what it does is not planned"},
	} {
		t.Run(c.why, func(t *testing.T) {
			d := atDesk(t)
			d.tree("base", c.baseOwner, c.base, "one")
			d.tree("head", c.owner, c.head, c.chart)
			t.Chdir("head")
			const line = "--flux clusters/prod --base-dir ../base --offline"
			var said []string
			for _, r := range d.planned(line) {
				if r.Verdict != nil {
					said = append(said, strings.Join(append([]string{r.Verdict.Action}, r.Verdict.Then...), ", then ")+": "+strings.Join(r.Verdict.Notes, "; "))
				}
			}
			all := strings.Join(said, "\n")
			if !strings.Contains(all, c.action+": ") || !strings.Contains(all, c.says) {
				t.Errorf("%s, want %s: … %s", all, c.action, c.says)
			}
			for _, output := range []string{"text", "markdown", "html"} {
				a := d.must("plan many " + line + " -o " + output)
				if text := unwrapped(a.out); !strings.Contains(text, unwrapped(c.says)) {
					t.Errorf("-o %s does not say %q:\n%s", output, c.says, a.out)
				}
			}
		})
	}
}

// unwrapped returns a text without spaces and without the escapes of Markdown and HTML.
func unwrapped(text string) string {
	return strings.NewReplacer(" ", "", "\n", "", "`", "", "&#39;", "'", "&#34;", `"`, "<wbr>", "", `\`, "").Replace(text)
}

// What is said if the HelmRelease in the cluster is taken into account, too.
func TestSayingsInTheCluster(t *testing.T) {
	id := manifest.ID{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "shop", Name: "web"}
	stalled := func(o map[string]any) {
		status := o["status"].(map[string]any)
		status["conditions"] = []any{map[string]any{"type": "Stalled", "status": "True", "reason": "RetriesExceeded"}}
		status["upgradeFailures"], status["lastAttemptedReleaseAction"] = int64(1), "upgrade"
	}
	for _, c := range []struct {
		why, spec    string
		live         func(o map[string]any)
		action, says string
	}{
		{"23: a change that resets", "values: {text: two}", stalled, "upgrade", "stalled until now: this change resets the retries (generation differs from last attempt)"},
		{"34: no rollback target", "values: {text: two}, upgrade: {remediation: {retries: 1}}", func(o map[string]any) { o["status"].(map[string]any)["history"] = nil }, "upgrade", "if it fails there is no rollback target: the HelmRelease stalls"},
		{"34: a rollback target", "values: {text: two}, upgrade: {remediation: {retries: 1}}", nil, "upgrade", "if it fails it is rolled back to revision 1 and retried up to 1 times"},
		{"21: changed outside of Flux", "", func(o map[string]any) {
			o["status"].(map[string]any)["history"].([]any)[0].(map[string]any)["apiVersion"] = "v2"
		}, "upgrade", "the release was changed outside of Flux: revision 1 is not the record that Flux made"},
	} {
		t.Run(c.why, func(t *testing.T) {
			d := atDesk(t)
			d.must("install web ./web")
			d.helmRelease("", noValues)
			live := d.Objects[id].DeepCopy()
			if c.live != nil {
				c.live(live.Object)
			}
			d.Put(live)
			d.releaseFile("release.yaml", "web", "chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet}}}, "+c.spec)
			web := d.planned("release.yaml")["web"]
			if web.Verdict == nil || web.Verdict.Action != c.action || !strings.Contains(strings.Join(web.Verdict.Notes, "; "), c.says) {
				t.Errorf("%+v %s, want %s: %s", web.Verdict, web.Error, c.action, c.says)
			}
		})
	}
}

// Adoption is on by default, and an uninstall that remediates an install deletes what was adopted.
func TestSayingsOfAdoption(t *testing.T) {
	d := atDesk(t)
	d.Put(objecttest.Parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: shop}, data: {text: theirs}}"))
	d.releaseFile("release.yaml", "web", "install: {remediation: {retries: 1}}, chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet}}}")
	web := d.planned("release.yaml")["web"]
	notes := fmt.Sprint(web.Verdict)
	if !strings.Contains(notes, "if it fails the release is uninstalled, including the objects it has adopted, and retried up to 1 times") || web.Plan == nil || web.Plan.Summary.Adopt != 1 {
		t.Errorf("%s %+v", notes, web.Plan)
	}
}

// A HelmRelease whose name is not a valid label value can't be deployed at all.
func TestSayingsOfALongName(t *testing.T) {
	d := atDesk(t)
	for n, says := range map[int]bool{63: false, 64: true} {
		d.releaseFile("release.yaml", strings.Repeat("a", n), "releaseName: web, chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet}}}")
		notes := fmt.Sprint(d.planned("release.yaml --offline --base-dir /dev/null")["web"].Verdict)
		if said := strings.Contains(notes, "the API server rejects label values longer than 63"); said != says {
			t.Errorf("%d: %s", n, notes)
		}
	}
}

// Even with --all, nothing is planned that does not happen.
func TestAllPlansNothingThatDoesNotHappen(t *testing.T) {
	d := atDesk(t)
	d.tree("base", "prune: true", webOf("")+", suspend: true", "one")
	d.tree("head", "prune: true", webOf("")+", suspend: true, values: {text: two}", "one")
	t.Chdir("head")
	a := d.must("plan many --flux clusters/prod --base-dir ../base --offline --all")
	a.has(t, "Plan of 1 release: 1 not released now", "shop/web nothing")
	if strings.Contains(a.out, "one → two") {
		t.Errorf("planned:\n%s", a.out)
	}
}
