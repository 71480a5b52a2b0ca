package command

import (
	"cmp"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/flux/digest"
	"github.com/kubectl-release/kubectl-release/internal/objecttest"
)

// kustomization returns a Kustomization of the folder of its name.
func kustomization(name, more string) string {
	return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\nspec: {interval: 1m, path: ./" + name + ", prune: true, sourceRef: {kind: GitRepository, name: fleet}, " + more + "}\n"
}

// from substitutes variables from a ConfigMap or Secret.
func from(kind, name string) string {
	return "postBuild: {substituteFrom: [{kind: " + kind + ", name: " + name + "}]}"
}

func settings(name, data string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: flux-system}\ndata: {" + data + "}\n"
}

const offlineFlux = "--flux clusters/prod --base-dir ../base --offline"

// Variables count wherever the Kustomization that applies them is built: files are in any order, and so
// is dependsOn.
func TestVariablesOfAKustomizationThatIsBuiltLater(t *testing.T) {
	for _, c := range []struct {
		why   string
		files map[string]string
	}{
		{"built later", map[string]string{"clusters/prod/config.yaml": kustomization("config", "")}},
		{"built earlier", map[string]string{"clusters/prod/aa.yaml": kustomization("config", "")}},
		{"one after another", map[string]string{
			"clusters/prod/config.yaml": kustomization("config", from("ConfigMap", "stage")), "config/settings.yaml": settings("settings", "TEXT: '${STAGE}'"),
			"clusters/prod/stages.yaml": kustomization("stages", ""), "stages/stage.yaml": settings("stage", "STAGE: SIDE"),
		}},
		{"in what a Kustomization of a Kustomization builds", map[string]string{
			"clusters/prod/config.yaml": kustomization("config", ""), "config/settings.yaml": kustomization("below", ""), "below/settings.yaml": settings("settings", "TEXT: SIDE"),
		}},
	} {
		t.Run(c.why, func(t *testing.T) {
			d := atDesk(t)
			for _, side := range []string{"base", "head"} {
				d.tree(side, "dependsOn: [{name: config}], "+from("ConfigMap", "settings"), webOf("")+", values: {text: '${TEXT}'}", "one")
				d.file(side+"/config/settings.yaml", settings("settings", "TEXT: "+side))
				for name, text := range c.files {
					d.file(side+"/"+name, strings.ReplaceAll(text, "SIDE", side))
				}
			}
			t.Chdir("head")
			web := d.planned(offlineFlux)["web"]
			if web.Verdict == nil || web.Verdict.Action != "upgrade" || strings.Contains(strings.Join(web.Verdict.Notes, "; "), "is not known") {
				t.Errorf("%+v %s", web.Verdict, web.Error)
			}
			if got, want := d.texts(offlineFlux), "web=map[chart:one text:head]"; got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// Sources count, too, wherever they are built: what spec.ignore excludes is not applied, and what is of
// another repository is not built.
func TestASourceThatIsBuiltLater(t *testing.T) {
	d := atDesk(t)
	git(t, "init", "-q")
	git(t, "remote", "add", "origin", "https://github.com/shop/fleet")
	d.tree(".", "prune: true", webOf(""), "one")
	d.releaseFile("apps/old.yaml", "old", webOf(""))
	d.file("clusters/prod/sources.yaml", strings.Replace(kustomization("sources", ""), "name: fleet", "name: infra", 1))
	for repository, planned := range map[string]int{
		gitRepository("https://github.com/shop/fleet", ""):                         2,
		gitRepository("https://github.com/shop/fleet", "ignore: '/apps/old.yaml'"): 1,
		gitRepository("https://github.com/shop/charts", ""):                        0,
	} {
		d.file("sources/fleet.yaml", strings.Replace(repository, "namespace: shop", "namespace: flux-system", 1))
		if all := d.planned("--flux clusters/prod --base-dir /dev/null --offline"); len(all) != planned {
			t.Errorf("%s: %+v, want %d", repository, all, planned)
		}
	}
}

// A Kustomization that builds the folder where Flux begins changes those beside it, whatever its name.
func TestTheKustomizationOfTheFolderItself(t *testing.T) {
	d := atDesk(t)
	for _, side := range []string{"base", "head"} {
		d.tree(side, "postBuild: {substitute: {TEXT: '${TEXT}'}}", webOf("")+", values: {text: '${TEXT}'}", "one")
		d.file(side+"/clusters/prod/sync.yaml", strings.Replace(kustomization("sync", "postBuild: {substitute: {TEXT: "+side+"}}"), "./sync", "./clusters/prod", 1))
	}
	t.Chdir("head")
	if got, want := d.texts(offlineFlux), "web=map[chart:one text:head]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A ConfigMap or Secret of variables that the repository does not have is named where it matters: by
// releases with such a variable, also if it is in what their values come from.
func TestVariablesThatAreNotKnown(t *testing.T) {
	const note = "ConfigMap flux-system/settings is not known: it is assumed to be the same before and after"
	for _, c := range []struct {
		why, values string
		files       map[string]string
		named       bool
	}{
		{"in the HelmRelease", "values: {text: '${TEXT}'}", nil, true},
		{"part of it", "values: {text: '${TEXT:0:3}'}", nil, true},
		{"in its values", "valuesFrom: [{kind: ConfigMap, name: texts}]", map[string]string{"apps/texts.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: texts, namespace: shop}\ndata: {values.yaml: 'text: ${TEXT}'}\n"}, true},
		{"in the Kustomization that applies it", "values: {text: '${BELOW}'}", map[string]string{
			"clusters/prod/apps.yaml": kustomization("above", from("ConfigMap", "settings")),
			"above/apps.yaml":         kustomization("apps", "postBuild: {substitute: {BELOW: '${TEXT}'}}"),
		}, true},
		{"nowhere", "values: {text: two}", nil, false},
		{"in other values of the ConfigMap", "valuesFrom: [{kind: ConfigMap, name: keep}]", map[string]string{"apps/keep.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: keep, namespace: shop}\ndata: {values.yaml: 'text: two', other: '${TEXT}'}\n"}, false},
	} {
		for why, withDefault := range map[string]*strings.Replacer{"": strings.NewReplacer(), ", with a default": strings.NewReplacer("${TEXT}", "${TEXT:=x}")} {
			t.Run(c.why+why, func(t *testing.T) {
				d := atDesk(t)
				d.tree("head", from("ConfigMap", "settings"), webOf("")+", "+withDefault.Replace(c.values), "one")
				for name, text := range c.files {
					d.file("head/"+name, withDefault.Replace(text))
				}
				t.Chdir("head")
				web := d.planned("--flux clusters/prod --base-dir /dev/null --offline")["web"]
				if web.Verdict == nil || strings.Contains(strings.Join(web.Verdict.Notes, "; "), note) != c.named {
					t.Errorf("%+v %s", web.Verdict, web.Error)
				}
			})
		}
	}
}

// What comes from a Secret is masked, also when another Kustomization has put it into a ConfigMap.
func TestSecretsInConfigMapsAreMasked(t *testing.T) {
	for _, c := range []struct{ why, owner, values, made, says string }{
		{"of values", "", "valuesFrom: [{kind: ConfigMap, name: texts}]", "{name: texts, namespace: shop}\ndata: {values.yaml: 'text: ${API}'}", "Plan of 1 release: 1 changes"},
		{"of values that are no table", "", "valuesFrom: [{kind: ConfigMap, name: texts}]", "{name: texts, namespace: shop}\ndata: {values.yaml: '${API}'}", "cannot unmarshal"},
		{"of variables", from("ConfigMap", "texts"), "values: {text: '${TEXT}'}", "{name: texts, namespace: flux-system}\ndata: {TEXT: '${API}'}", "Plan of 1 release: 1 changes"},
	} {
		t.Run(c.why, func(t *testing.T) {
			d := atDesk(t)
			d.tree("head", c.owner, webOf("")+", "+c.values, "one")
			d.file("head/clusters/prod/config.yaml", kustomization("config", from("Secret", "vars")))
			d.file("head/clusters/prod/vars.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: vars, namespace: flux-system}\nstringData: {API: canary-one}\n")
			d.file("head/config/texts.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: "+c.made+"\n")
			t.Chdir("head")
			for _, output := range []string{"text", "json", "markdown", "html"} {
				a := d.types("plan many --flux clusters/prod --base-dir /dev/null --offline -o " + output)
				if text := a.out + a.err; strings.Contains(text, "canary-one") || output == "text" && !strings.Contains(text, c.says) {
					t.Errorf("-o %s quotes the Secret, or lacks %q:\n%s", output, c.says, text)
				}
			}
		})
	}
}

// Variables that change whenever they are replaced are reported, and end.
func TestVariablesThatDoNotSettle(t *testing.T) {
	d := atDesk(t)
	d.tree(".", from("ConfigMap", "settings"), webOf("")+", values: {text: '${TEXT}'}", "one")
	d.file("apps/settings.yaml", settings("settings", "TEXT: 'a${TEXT}'"))
	d.must("plan many --flux clusters/prod --base-dir /dev/null --offline").has(t, "Kustomizations that give each other variables still change after 20 rounds")
}

// A variable with a default has that where the Secret that may set it is not known: a change of the default
// is seen, and where none is given a marker takes its place.
func TestADefaultOfAVariableThatIsNotKnown(t *testing.T) {
	d := atDesk(t)
	for side, value := range map[string]string{"base": "one", "head": "${OTHER:-two}"} {
		d.tree(side, from("Secret", "settings"), webOf("")+", values: {text: '${TEXT:="+value+"} and ${TEXT}'}", "one")
	}
	t.Chdir("head")
	if got, want := d.texts(offlineFlux), "web=map[chart:one text:two and (unknown Secret/flux-system/settings TEXT)]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := verdict(d.planned(offlineFlux)["web"]), "Secret flux-system/settings is not known"; !strings.Contains(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}

// With a cluster, too, a change of a default is seen before that is asked, wherever the variable is: the
// default counts if the Secret lacks the variable.
func TestADefaultThatCountsInTheCluster(t *testing.T) {
	for why, files := range map[string]map[string]string{
		"in the HelmRelease": nil,
		"in its values": {
			"apps/texts.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: texts, namespace: shop}\ndata: {values.yaml: 'text: ${TEXT:=SIDE}'}\n",
		},
		"in the Kustomization that applies it": {
			"clusters/prod/apps.yaml": kustomization("above", from("Secret", "settings")),
			"above/apps.yaml":         kustomization("apps", "postBuild: {substitute: {BELOW: '${TEXT:=SIDE}'}}"),
		},
	} {
		for secret, want := range map[string]string{"{OTHER: a}": "upgrade", "{TEXT: one}": "nothing", "": "error: can't be planned without Secret flux-system/settings: Kustomization"} {
			t.Run(why+secret, func(t *testing.T) {
				d := atDesk(t)
				values := map[string]string{"in the HelmRelease": "values: {text: '${TEXT:=SIDE}'}", "in its values": "valuesFrom: [{kind: ConfigMap, name: texts}]"}[why]
				for side, text := range map[string]string{"base": "one", "head": "two"} {
					of := strings.NewReplacer("SIDE", text)
					d.tree(side, from("Secret", "settings"), webOf("")+", "+of.Replace(cmp.Or(values, "values: {text: '${BELOW}'}")), "one")
					for name, text := range files {
						d.file(side+"/"+name, of.Replace(text))
					}
				}
				d.must("install web ./base/charts/web --set text=one")
				sum, err := digest.Values(map[string]any{"text": "one"})
				if err != nil {
					t.Fatal(err)
				}
				d.released("{interval: 1m, "+webOf("")+", "+strings.NewReplacer("${TEXT:=SIDE}", "one").Replace(cmp.Or(values, "values: {text: one}"))+"}", sum)
				if secret != "" {
					d.Put(objecttest.Parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: settings, namespace: flux-system}, stringData: "+secret+"}"))
				}
				t.Chdir("head")
				if got := verdict(d.planned("--flux clusters/prod --base-dir ../base")["web"]); !strings.HasPrefix(got, want) {
					t.Errorf("%s, want %s", got, want)
				}
			})
		}
	}
}

// What commonMetadata says does not count for substitution, which comes before it, and has no variables of its
// own Kustomization.
func TestCommonMetadataComesAfterSubstitution(t *testing.T) {
	d := atDesk(t)
	const post = "postBuild: {substitute: {TEXT: SIDE}}, commonMetadata: {annotations: {kustomize.toolkit.fluxcd.io/substitute: disabled}}"
	for _, side := range []string{"base", "head"} {
		d.tree(side, strings.ReplaceAll(post, "SIDE", side), webOf("")+", values: {text: '${TEXT}'}", "one")
	}
	t.Chdir("head")
	if got, want := d.texts(offlineFlux), "web=map[chart:one text:head]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
