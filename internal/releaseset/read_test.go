package releaseset

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// files returns a tree with a releases.yaml in the folder shop, next to a chart and values.
func files(releases string) Tree {
	return fstest.MapFS{
		"shop/releases.yaml": {Data: []byte(releases)}, "shop/charts/web/Chart.yaml": {}, "lib/api/Chart.yaml": {},
		"shop/web.yaml": {},
	}
}

func read(t *testing.T, releases string) *Set {
	t.Helper()
	set, err := Read(files(releases), "shop/releases.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Inline values may have aliases of what is elsewhere in the file, and merge it.
func TestInlineValuesWithAliases(t *testing.T) {
	set := read(t, `version: 1
defaults: {namespace: shop}
releases:
- {name: a, chart: charts/web, values: [&limits {cpu: 1, memory: 2}]}
- {name: b, chart: charts/web, values: [{web: {resources: *limits, other: {<<: *limits, cpu: 3}}}, *limits]}
`)
	want := []string{"{web: {resources: {cpu: 1, memory: 2}, other: {<<: {cpu: 1, memory: 2}, cpu: 3}}}\n", "{cpu: 1, memory: 2}\n"}
	for i, v := range set.Entries[1].Values {
		if string(v.Inline) != want[i] {
			t.Errorf("%q, want %q", v.Inline, want[i])
		}
	}
	for _, values := range []string{
		"[&self {a: *self}]",
		"[{a: &a [1,1,1,1,1,1,1,1,1,1], b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a], c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b], d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c], e: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]}]",
	} {
		_, err := Read(files("version: 1\nreleases:\n- {name: a, namespace: shop, chart: charts/web, values: "+values+"}\n"), "shop/releases.yaml")
		if err == nil || !strings.Contains(err.Error(), "too many aliases") {
			t.Errorf("%s: %v", values, err)
		}
	}
}

func TestAllFieldsOfAReleaseAreRead(t *testing.T) {
	set := read(t, `version: 1
defaults: {namespace: shop, atomic: true, timeout: 5m}
clusters: {prod: {context: prod-eu, kubeVersion: "1.36"}}
releases:
- name: web
  cluster: prod
  chart: charts/web
  values: [web.yaml, {replicas: 2, on: yes}]
  set: ["a=1"]
  setFile: ["motd=../motd.txt"]
  needs: [db]
  labels: {tier: front}
  timeout: 1m
  historyMax: 3
- {name: db, cluster: prod, chart: {repo: "oci://reg/charts/", name: postgresql, version: 16.6.3}, installed: true, atomic: false}
- {name: old, cluster: prod, installed: false}
- {name: cache, cluster: prod, chart: stable/redis, version: "1.2.3"}
`)
	three := 3
	common := Options{Atomic: true, Timeout: 5 * time.Minute}
	web := common
	web.Timeout, web.HistoryMax = time.Minute, &three
	key := func(name string) Key { return Key{"prod", "shop", name} }
	want := []Entry{
		{
			Key: key("web"), Chart: Chart{Path: "shop/charts/web"}, Labels: map[string]string{"tier": "front"}, Needs: []Key{key("db")},
			Values: []Value{
				{File: "shop/web.yaml", From: Place{"shop/releases.yaml", 8}},
				{Inline: []byte("{replicas: 2, on: yes}\n"), From: Place{"shop/releases.yaml", 8}},
			},
			Settings: Settings{Set: []string{"a=1"}, File: []string{"motd=motd.txt"}},
			Options:  web, From: Place{"shop/releases.yaml", 5},
		},
		{Key: key("db"), Chart: Chart{Name: "oci://reg/charts/postgresql", Version: "16.6.3"}, Options: Options{Timeout: 5 * time.Minute}, From: Place{"shop/releases.yaml", 15}},
		{Key: key("old"), Uninstalled: true, Options: common, From: Place{"shop/releases.yaml", 16}},
		{Key: key("cache"), Chart: Chart{Name: "stable/redis", Version: "1.2.3"}, Options: common, From: Place{"shop/releases.yaml", 17}},
	}
	if diff := cmp.Diff(want, set.Entries); diff != "" {
		t.Error(diff)
	}
}

func TestEachRepeatsAReleaseForEveryName(t *testing.T) {
	set := read(t, `version: 1
clusters: {dev: {}, prod: {}}
releases:
- {each: [dev, prod], name: api, cluster: "${each}", namespace: "api-${each}", chart: ../lib/api, values: ["env/${each}.yaml"]}
`)
	var got []string
	for _, e := range set.Entries {
		got = append(got, e.String()+" "+e.Chart.Path+" "+e.Values[0].File)
	}
	if diff := cmp.Diff([]string{"dev/api-dev/api lib/api shop/env/dev.yaml", "prod/api-prod/api lib/api shop/env/prod.yaml"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestMistakesAreToldWithTheirLine(t *testing.T) {
	for name, tc := range map[string]struct{ releases, want string }{
		"a field that there is none of": {"- {name: web, namespace: shop, chart: charts/web, value: [a.yaml]}", `shop/releases.yaml:3: unknown field "value"; did you mean values?`},
		"no namespace":                  {"- {name: web, chart: charts/web}", "shop/releases.yaml:3: release web has no namespace"},
		"a cluster of no name":          {"- {name: web, namespace: a, cluster: prod, chart: charts/web}", `shop/releases.yaml:3: release web is for cluster "prod", which is not declared in clusters`},
		"values from outside":           {"- {name: web, namespace: a, chart: charts/web, values: [../../etc/passwd]}", "shop/releases.yaml:3: ../../etc/passwd is outside of the repository"},
		"an absolute path":              {"- {name: web, namespace: a, chart: /etc}", "shop/releases.yaml:3: /etc is outside of the repository"},
		"no chart":                      {"- {name: web, namespace: a}", "shop/releases.yaml:3: chart is required"},
		"a need that is not there":      {"- {name: web, namespace: a, chart: charts/web, needs: [db]}", "shop/releases.yaml:3: a/web needs db, which is not in the set"},
		"the same release twice":        {"- {name: web, namespace: a, chart: charts/web}\n- {name: web, namespace: a, chart: charts/web}", "shop/releases.yaml:4: release a/web is declared a second time; the first is at shop/releases.yaml:3"},
		"a release of two clusters' names": {
			"- {name: web, namespace: a, cluster: eu, chart: charts/web}\n- {name: web, namespace: a, cluster: prod, chart: charts/web}\nclusters: {eu: {context: prod-eu}, prod: {context: prod-eu}}",
			"shop/releases.yaml:4: release prod/a/web is the same as eu/a/web at shop/releases.yaml:3: both clusters have the context prod-eu",
		},
		"a text where a number belongs": {"- {name: web, namespace: a, chart: charts/web, historyMax: many}", "shop/releases.yaml:3: cannot unmarshal !!str `many` into int"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(files("version: 1\nreleases:\n"+tc.releases+"\n"), "shop/releases.yaml")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

func TestNeedsInACircleAreRefused(t *testing.T) {
	_, err := Read(files(`version: 1
defaults: {namespace: shop, chart: charts/web}
`), "shop/releases.yaml")
	if err == nil || !strings.Contains(err.Error(), `unknown field "chart"`) {
		t.Errorf("defaults take no chart: %v", err)
	}
	_, err = Read(files(`version: 1
defaults: {namespace: shop}
releases:
- {name: x, chart: charts/web, needs: [a]}
- {name: a, chart: charts/web, needs: [b]}
- {name: b, chart: charts/web, needs: [a]}
`), "shop/releases.yaml")
	var cycle *CycleError
	if !errors.As(err, &cycle) || !strings.HasSuffix(err.Error(), ": a needs b needs a") {
		t.Errorf("got %v", err)
	}
}

func TestWavesNeedOnlyEarlierOnes(t *testing.T) {
	set := read(t, `version: 1
defaults: {namespace: shop}
releases:
- {name: web, chart: charts/web, needs: [api, cache]}
- {name: api, chart: charts/web, needs: [db]}
- {name: db, chart: charts/web}
- {name: cache, chart: charts/web}
`)
	found, err := Waves(set.Entries)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, wave := range found {
		var names []string
		for _, e := range wave {
			names = append(names, e.Name)
		}
		got = append(got, strings.Join(names, " "))
	}
	if diff := cmp.Diff([]string{"db cache", "api", "web"}, got); diff != "" {
		t.Error(diff)
	}
	without, err := Waves(set.Entries[:2]) // db is not selected
	if err != nil || len(without) != 2 || without[0][0].Name != "api" {
		t.Errorf("%v %v", without, err)
	}
}

func TestANeedIsLookedForInItsOwnNamespaceFirst(t *testing.T) {
	entries := []Entry{{Key: Key{"", "a", "db"}}, {Key: Key{"", "b", "db"}}, {Key: Key{"", "c", "cache"}}, {Key: Key{"prod", "c", "queue"}}}
	for need, want := range map[string]string{
		"db": "a/db", "b/db": "b/db", "cache": "c/cache", "prod/c/queue": "prod/c/queue",
		"queue": "a/web needs queue, which is not in the set",
	} {
		got, err := ResolveNeed(entries, Key{"", "a", "web"}, need)
		if text := got.String(); text != want && (err == nil || err.Error() != want) {
			t.Errorf("%s: %s, %v", need, text, err)
		}
	}
	if _, err := ResolveNeed(entries, Key{"", "x", "web"}, "db"); err == nil || !strings.Contains(err.Error(), "several namespaces") {
		t.Errorf("%v", err)
	}
}

// The contexts of EKS have a slash in their names, and needs name them as they are.
func TestKeysOfClustersWithSlashes(t *testing.T) {
	const cluster = "arn:aws:eks:eu-west-1:1:cluster/prod"
	db := Key{cluster, "shop", "db"}
	for _, key := range []Key{{"", "shop", "web"}, {"prod", "shop", "web"}, {cluster, "shop", "web"}, {"a/b/c", "shop", "web"}} {
		var read Key
		if err := read.UnmarshalText([]byte(key.String())); err != nil || read != key {
			t.Errorf("%s is read as %+v, %v", key, read, err)
		}
	}
	for _, need := range []string{"db", "shop/db", db.String()} {
		if got, err := ResolveNeed([]Entry{{Key: db}}, Key{cluster, "shop", "web"}, need); got != db {
			t.Errorf("%s: %s, %v", need, got, err)
		}
	}
	for _, text := range []string{"", "web", "/web"} {
		if err := new(Key).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read as a key", text)
		}
	}
}

func TestSelectorsJoinConditionsByAndAndTextsByOr(t *testing.T) {
	web := Entry{Key: Key{"prod", "shop", "web"}, Chart: Chart{Name: "stable/nginx"}, Labels: map[string]string{"tier": "front"}}
	for _, tc := range []struct {
		texts []string
		want  bool
	}{
		{nil, true},
		{[]string{"tier=front,name=web"}, true},
		{[]string{"tier=front,name!=web"}, false},
		{[]string{"tier=back", "chart=nginx"}, true},
		{[]string{"team!=x"}, true},
		{[]string{"team=x"}, false},
		{[]string{"cluster=prod,namespace==shop"}, true},
	} {
		s, err := ParseSelector(tc.texts)
		if err != nil || s.Selects(web) != tc.want {
			t.Errorf("%v: %v, %v", tc.texts, !tc.want, err)
		}
	}
	if _, err := ParseSelector([]string{"tier"}); err == nil {
		t.Error("a word is no selector")
	}
}

// Folders where Flux begins are joined unless both declare an applier: which of the two applies an entry is not known.
func TestAppliersOfOneNameAreNotJoined(t *testing.T) {
	prod := &Set{Appliers: map[string]Applier{"": {Remote: []string{"a"}}, "Kustomization flux-system/apps": {Prunes: true}}}
	stage := &Set{Appliers: map[string]Applier{"": {Remote: []string{"b"}}, "Kustomization flux-system/stage": {}}}
	var both Set
	if err := both.Join(prod, stage); err != nil || len(both.Appliers) != 3 || len(both.Appliers[""].Remote) != 2 {
		t.Errorf("%v, %v", both.Appliers, err)
	}
	if err := both.Join(prod); err == nil || !strings.Contains(err.Error(), "Kustomization flux-system/apps is declared in several folders") {
		t.Error(err)
	}
}

// docs/pull-requests.md names every option that a file can set.
func TestEveryOptionIsDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "pull-requests.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "\n- Options are ")
	list, _, _ = strings.Cut(list, "\n- ")
	for field := range reflect.TypeFor[Options]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if name != "-" && !strings.Contains(list, "`"+name+"`") {
			t.Errorf("docs/pull-requests.md does not name the option %s", name)
		}
	}
}
