package command

import (
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/flux/digest"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/objecttest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// withText returns a desk with a repository whose HelmRelease has a text from the variable TEXT, and the
// release in the cluster with the text "canary-one".
func withText(t *testing.T, owner string) *desk {
	d := atDesk(t)
	d.tree(".", owner, webOf("")+", values: {text: 'a-${TEXT}'}", "one")
	d.must("install web ./charts/web --set text=a-canary-one")
	sum, err := digest.Values(map[string]any{"text": "a-canary-one"})
	if err != nil {
		t.Fatal(err)
	}
	d.released("{interval: 1m, "+webOf("")+", values: {text: a-canary-one}}", sum)
	return d
}

// With a cluster, variables that the repository does not have, or has encrypted, are read there, and
// what comes from Secrets is masked. Where that is not possible, they count as unchanged.
func TestVariablesAreReadFromTheCluster(t *testing.T) {
	const sops = "apiVersion: v1\nkind: Secret\nmetadata: {name: vars, namespace: flux-system}\nstringData: {TEXT: 'ENC[AES256_GCM,data:a]'}\nsops: {version: 3.9.0}\n"
	for _, c := range []struct {
		why, owner, secret string
		files              map[string]string
		denied             bool
		want, note         string
	}{
		{"as it was", from("Secret", "vars"), "{TEXT: canary-one}", nil, false, "nothing", ""},
		{"another", from("Secret", "vars"), "{TEXT: canary-two}", nil, false, "upgrade", "the values change"},
		{"encrypted in the repository", from("Secret", "vars"), "{TEXT: canary-one}", map[string]string{"apps/vars.yaml": sops}, false, "nothing", ""},
		{"encrypted in the repository, and not in the cluster yet", from("Secret", "vars"), "", map[string]string{"clusters/prod/config.yaml": kustomization("config", ""), "config/vars.yaml": sops}, false, "nothing", "Secret flux-system/vars is not known"},
		{"not in the cluster yet, and applied by the Kustomization that needs it", from("Secret", "vars"), "", map[string]string{"apps/vars.yaml": sops}, false, "error", "substitute from 'Secret/vars': not found"},
		{"that may not be read", from("Secret", "vars"), "{TEXT: canary-one}", nil, true, "nothing", "Secret flux-system/vars is not known"},
		{"that may not be read, beside another value", from("Secret", "vars"), "{TEXT: canary-one}", map[string]string{"apps/web.yaml": "more: two"}, true, "upgrade", "the values change"},
		{"none", from("Secret", "vars"), "", nil, false, "error", "Kustomization flux-system/apps: substitute from 'Secret/vars': not found"},
		{"none, which is optional", strings.Replace(from("Secret", "vars"), "name: vars", "name: vars, optional: true", 1), "", nil, false, "upgrade", "the values change"},
		{"in a Kustomization of a Kustomization", "postBuild: {substitute: {TEXT: '${ABOVE}'}}", "{ABOVE: canary-two}", map[string]string{"clusters/prod/apps.yaml": kustomization("above", from("Secret", "vars")), "above/apps.yaml": kustomization("apps", "postBuild: {substitute: {TEXT: '${ABOVE}'}}")}, false, "upgrade", "the values change"},
		{"that is not YAML any more", from("Secret", "vars"), "{TEXT: '*canary-two'}", map[string]string{"apps/web.yaml": "more: '${TEXT}'"}, false, "error", "it may quote a Secret"},
	} {
		t.Run(c.why, func(t *testing.T) {
			d := withText(t, c.owner)
			for name, text := range c.files {
				if name == "apps/web.yaml" {
					d.releaseFile(name, "web", webOf("")+", values: {text: 'a-${TEXT}', "+text+"}")
				} else {
					d.file(name, text)
				}
			}
			if c.secret != "" {
				d.Put(objecttest.Parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: vars, namespace: flux-system}, stringData: "+c.secret+"}"))
			}
			d.Denied = map[plan.Permission]bool{{Verb: "get", Resource: "secrets", Namespace: "flux-system", Name: "vars"}: c.denied}
			web := d.planned("--flux clusters/prod")["web"]
			action, notes := "error", web.Error
			if web.Verdict != nil {
				action, notes = web.Verdict.Action, strings.Join(web.Verdict.Notes, "; ")
			}
			if action != c.want || !strings.Contains(notes, c.note) || c.note == "" && strings.Contains(notes, "is not known") {
				t.Errorf("%s: %s, want %s: %s", action, notes, c.want, c.note)
			}
			for _, output := range []string{"text", "json", "markdown", "html"} {
				if a := d.types("plan many --flux clusters/prod -o " + output); strings.Contains(a.out+a.err, "canary-two") {
					t.Errorf("-o %s quotes the Secret:\n%s%s", output, a.out, a.err)
				}
			}
		})
	}
}

// A HelmRelease with something that SOPS has encrypted in it is the same as the live one if nothing
// else differs.
func TestWhatIsEncryptedIsAsItIsInTheCluster(t *testing.T) {
	for values, want := range map[string]string{
		"text: 'ENC[AES256_GCM,data:a,type:str]'":            "nothing",
		"text: 'ENC[AES256_GCM,data:a,type:str]', more: two": "upgrade",
		"more: 'ENC[AES256_GCM,data:a,type:str]'":            "upgrade",
	} {
		d := withText(t, "prune: true")
		d.file("apps/web.yaml", "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: shop}\nspec: {interval: 1m, "+webOf("")+", values: {"+values+"}}\nsops: {version: 3.9.0}\n")
		if web := d.planned("--flux clusters/prod")["web"]; web.Verdict == nil || web.Verdict.Action != want || !strings.Contains(strings.Join(web.Verdict.Notes, "; "), "what is encrypted in HelmRelease shop/web is not known") {
			t.Errorf("%s: %+v %s, want %s", values, web.Verdict, web.Error, want)
		}
	}
}

// A field of the HelmRelease that is not known is as it is in the cluster also where it is part of a chart's version.
func TestAFieldOfTheHelmChartThatIsNotKnown(t *testing.T) {
	const chart = ", chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet, namespace: flux-system}, valuesFiles: [two.yaml]}}"
	d := atDesk(t)
	d.file("two.yaml", "text: one\n")
	d.file("web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0+3}")
	d.must("install web ./web")
	d.file("web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0}")
	d.released("{interval: 5m"+chart+"}", noValues)
	live := d.Objects[manifest.ID{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "shop", Name: "web"}].DeepCopy()
	status := live.Object["status"].(map[string]any)
	status["lastAttemptedRevision"] = "1.0.0+3"
	status["history"].([]any)[0].(map[string]any)["chartVersion"] = "1.0.0+3"
	d.Put(live)
	d.Denied = map[plan.Permission]bool{{Verb: "get", Resource: "secrets", Namespace: "flux-system", Name: "vars"}: true}
	d.file("clusters/prod/apps.yaml", kustomization("apps", from("Secret", "vars")))
	d.file("apps/web.yaml", "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: shop}\nspec: {interval: '${I}'"+chart+"}\n")
	web := d.planned("--flux clusters/prod")["web"]
	if got := verdict(web); !strings.HasPrefix(got, "nothing: chart, values and post-renderers are those of the newest revision") {
		t.Errorf("%s %s", got, web.Error)
	}
}
