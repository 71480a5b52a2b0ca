package command

import (
	"os"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/objecttest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// sops returns a file with a Secret that SOPS has encrypted.
func sops(name, namespace, data string) string {
	return "apiVersion: v1\nkind: Secret\nmetadata: {name: " + name + ", namespace: " + namespace + "}\nstringData: {values.yaml: '" + data + "', other: 'ENC[AES256_GCM,data:other]'}\nsops: {version: 3.9.0, mac: '" + data + "'}\n"
}

// A change of what is not known may be an upgrade: of which objects values come from, or of what is encrypted in them.
func TestWhatIsNotKnownChanges(t *testing.T) {
	const one, two = "ENC[AES256_GCM,data:one]", "ENC[AES256_GCM,data:two]"
	const unsure = "unknown: some values are not known; if they have changed it is an upgrade; "
	bitnami := func(data string) string {
		return "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: creds, namespace: shop}\nspec: {encryptedData: {values.yaml: " + data + "}}\n"
	}
	creds := webOf("") + ", valuesFrom: [{kind: Secret, name: creds}]"
	for _, c := range []struct {
		why                                                string
		base, head, baseSpec, headSpec, baseVars, headVars string
		want, says                                         string
	}{
		{"a ConfigMap that is elsewhere comes", "", "", webOf(""), webOf("") + ", valuesFrom: [{kind: ConfigMap, name: more}]", "", "", unsure, "ConfigMap shop/more counts from now on"},
		{"an optional one", "", "", webOf(""), webOf("") + ", valuesFrom: [{kind: ConfigMap, name: more, optional: true}]", "", "", unsure, "optional ConfigMap shop/more is skipped: it, or its key values.yaml, was not found"},
		{"a Secret has another name", sops("creds", "shop", one), sops("creds-v2", "shop", two), creds, webOf("") + ", valuesFrom: [{kind: Secret, name: creds-v2}]", "", "", unsure, "what is encrypted in Secret shop/creds-v2 counts from now on; what is encrypted in Secret shop/creds no longer counts"},
		{"a Secret goes", sops("creds", "shop", one), sops("creds", "shop", one), creds, webOf(""), "", "", unsure, "what is encrypted in Secret shop/creds no longer counts"},
		{"ciphertext of values", sops("creds", "shop", one), sops("creds", "shop", two), creds, creds, "", "", unsure, "what is encrypted in Secret shop/creds changes"},
		{"another key", sops("creds", "shop", one), strings.Replace(sops("creds", "shop", one), "data:other", "data:changed", 1), creds, creds, "", "", "untouched", ""},
		{"a SealedSecret", bitnami("one"), bitnami("two"), creds, creds, "", "", unsure, "SealedSecret shop/creds changes"},
		{"variables", "", "", webOf("") + ", values: {text: '${other}'}", webOf("") + ", values: {text: '${other}'}", sops("vars", "flux-system", one), sops("vars", "flux-system", two), unsure, "what is encrypted in Secret flux-system/vars changes"},
		{"in the HelmRelease", "", "", webOf("") + ", values: {text: '" + one + "'}}\nsops: {version: 3.9.0", webOf("") + ", values: {text: '" + two + "'}}\nsops: {version: 3.9.0", "", "", unsure, "what is encrypted in HelmRelease shop/web changes"},
		{"other values change, too", sops("creds", "shop", one), sops("creds", "shop", two), creds, creds + ", values: {text: two}", "", "", "upgrade: the values change", "what is encrypted in Secret shop/creds changes"},
	} {
		t.Run(c.why, func(t *testing.T) {
			d := atDesk(t)
			for side, has := range map[string][3]string{"base": {c.baseSpec, c.base, c.baseVars}, "head": {c.headSpec, c.head, c.headVars}} {
				d.tree(side, "prune: true, "+from("Secret", "vars"), has[0], "one")
				d.file(side+"/apps/creds.yaml", has[1])
				d.file(side+"/clusters/prod/vars.yaml", has[2])
			}
			t.Chdir("head")
			web := d.planned(offlineFlux)["web"]
			got := verdict(web)
			if !web.Touched && web.Error == "" {
				got = "untouched"
			}
			if !strings.HasPrefix(got, c.want) || !strings.Contains(got, c.says) {
				t.Errorf("%q, want %q and %q", got, c.want, c.says)
			}
		})
	}
}

// Notes about what is not known are there once, however many keys are used, and don't contradict each other.
func TestWhatIsNotKnownIsSaidOnce(t *testing.T) {
	d := atDesk(t)
	for _, side := range []string{"base", "head"} {
		d.tree(side, "prune: true", webOf("")+", valuesFrom: [{kind: Secret, name: creds}, {kind: Secret, name: creds, valuesKey: other}]", "one")
		d.file(side+"/apps/creds.yaml", strings.ReplaceAll(sops("creds", "shop", "ENC[AES256_GCM,data:"+side+"]"), "data:other", "data:other-"+side))
	}
	t.Chdir("head")
	got := verdict(d.planned(offlineFlux)["web"])
	for text, times := range map[string]int{"what is encrypted in Secret shop/creds changes": 1, "Secret shop/creds is not known: what it changes is not in the plan": 1, "assumed to be the same": 0} {
		if strings.Count(got, text) != times {
			t.Errorf("%q, want %q %d times", got, text, times)
		}
	}
}

// With a cluster, too: that has the former content, and so has the digest in the status if the Secret can't be read.
func TestWhatIsEncryptedChangesBesideACluster(t *testing.T) {
	const may = "unknown: some values are not known; if they have changed it is an upgrade; "
	const same = "nothing: chart, values and post-renderers are those of the newest revision"
	for _, c := range []struct {
		side, want string
		denied     bool
	}{{"head", may, false}, {"base", same, false}, {"head", may, true}, {"base", same, true}} {
		d := atDesk(t)
		d.must("install web ./web")
		const spec = "chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: fleet}}}, valuesFrom: [{kind: Secret, name: creds}]"
		d.released("{interval: 1m, "+spec+"}", noValues)
		for _, side := range []string{"base", "head"} {
			d.releaseFile(side+"/apps/web.yaml", "web", spec)
			d.file(side+"/apps/creds.yaml", sops("creds", "shop", "ENC[AES256_GCM,data:"+side+"]"))
			if err := os.CopyFS(side+"/web", os.DirFS("web")); err != nil {
				t.Fatal(err)
			}
		}
		d.Put(objecttest.Parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: creds, namespace: shop}, stringData: {values.yaml: ''}}"))
		d.Denied = map[plan.Permission]bool{{Verb: "get", Resource: "secrets", Namespace: "shop", Name: "creds"}: c.denied}
		t.Chdir(c.side)
		proven := c.side == "base" && c.denied
		if got := verdict(d.planned("apps --all --base-dir ../base")["web"]); !strings.HasPrefix(got, c.want) || strings.Contains(got, "the values are unchanged") != proven {
			t.Errorf("denied %v: %q, want %q", c.denied, got, c.want)
		}
	}
}

// A plan of what may change does not look like one of nothing.
func TestWhatMayChangeIsNotWhatStaysAsItIs(t *testing.T) {
	d := atDesk(t)
	for _, side := range []string{"base", "head"} {
		d.tree(side, "prune: true", webOf("")+", valuesFrom: [{kind: Secret, name: creds}]", "one")
		d.file(side+"/apps/creds.yaml", sops("creds", "shop", "ENC[AES256_GCM,data:"+side+"]"))
	}
	t.Chdir("head")
	a := d.types("plan many " + offlineFlux + " --detailed-exitcode")
	if a.has(t, "Plan of 1 release: 1 may change"); a.code != exitRecordOnly {
		t.Errorf("exit code %d", a.code)
	}
}
