package values

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// shop returns a chart with a subchart, one that is switched off, and one under an
// alias.
func shop(t *testing.T) *chart.Chart {
	t.Helper()
	part := func(name, defaults string, deps ...*chart.Dependency) *chart.Chart {
		table, _, err := Parse([]byte(defaults), name)
		if err != nil {
			t.Fatal(err)
		}
		return &chart.Chart{Metadata: &chart.Metadata{Name: name, Version: "1.0.0", Dependencies: deps}, Values: table}
	}
	root := part("shop", "replicas: 1\nimage: {tag: a, pull: null}\nhosts: [{host: a}]\ncache: {size: 1}\nglobal: {zone: a}\n",
		&chart.Dependency{Name: "db", Version: "1.0.0", Condition: "db.enabled,database.used", Tags: []string{"back"}},
		&chart.Dependency{Name: "mail", Version: "1.0.0", Condition: "mail.enabled"},
		&chart.Dependency{Name: "redis", Version: "1.0.0", Alias: "cache"},
	)
	root.AddDependency(part("db", "auth: {user: a}\nglobal: {class: b}\n"), part("mail", "from: a\n"), part("redis", "port: 1\n"), part("undeclared", "x: 1\n"))
	return root
}

// Only keys that no chart knows are suspected, each in the scope of its chart.
func TestFindUnknownKeys(t *testing.T) {
	for _, tc := range []struct{ why, user, want string }{
		{"what has a default is known, null defaults too", "replicas: 2\nimage: {tag: b, pull: x}\n", ""},
		{"a key without a default", "replcas: 2\n", "replcas"},
		{"in a table that has one", "image: {tga: b}\n", "image.tga"},
		{"in a table of its own, with all that is in it", "extra: {a: {b: 1}}\n", "extra extra.a extra.a.b"},
		{"in items of a list, known by the default's items", "hosts: [{host: a}, {hots: b}]\n", "hosts[1].hots"},
		{"in several items, told of the first that has it", "hosts: [{host: a}, {hots: b}, {hots: c, prot: {a: 1}}, {prot: {b: 1}}]\n", "hosts[1].hots hosts[2].prot hosts[2].prot.a hosts[3].prot.b"},
		{"a null takes nothing away and gives nothing", "nope: null\n", ""},
		{"a subchart's values are its own", "db: {auth: {usr: a}, replicas: 1}\n", "db.auth.usr db.replicas"},
		{"a parent's defaults for a subchart, and the subchart's under its alias", "cache: {size: 2, port: 2, prot: 3}\n", "cache.prot"},
		{"the chart's name is none where it has an alias", "redis: {port: 2}\n", "redis redis.port"},
		{"a subchart that is switched off, at its top", "mail: {enabled: false, form: {a: 1}, from: x}\n", "mail.form"},
		{"a subchart that no dependency stands for", "undeclared: {x: 2, z: 3}\n", "undeclared.z"},
		{"conditions and tags", "db: {enabled: true, enable: true}\ndatabase: {used: true, unused: 1}\ntags: {back: true, bakc: true}\nmail: {enabled: true}\n", "database.unused db.enable tags.bakc"},
		{"globals are everybody's", "global: {zone: b, class: c, zoen: d}\ndb: {global: {zone: b, clas: c, zoen: e}}\n", "db.global.clas global.zoen"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			user, _, err := Parse([]byte(tc.user), "user")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range suspects(t, shop(t), user) {
				for _, key := range s.Keys {
					got = append(got, PathText(key.Path()))
				}
			}
			want := strings.Fields(tc.want)
			if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func sorted(words []string) map[string]int {
	out := map[string]int{}
	for _, w := range words {
		out[w]++
	}
	return out
}

func suspects(t *testing.T, c *chart.Chart, user map[string]any) []UnknownKeys {
	t.Helper()
	processed, _, err := ProcessDependencies(c, user)
	if err != nil {
		t.Fatal(err)
	}
	top, _, err := RenderValues(processed, user, ReleaseInfo{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	vals, _ := top["Values"].(map[string]any)
	return FindUnknownKeys(c, processed, user, vals)
}

// What a suspected key was meant to be.
func TestMeant(t *testing.T) {
	for _, tc := range []struct {
		why, user string
		read      []string
		want      string
	}{
		{"a default", "replcas: 1\n", nil, "replicas"},
		{"a key that templates asked for", "nodeSelecter: 1\n", []string{"nodeSelector"}, "nodeSelector"},
		{"a subchart, switched on or off", "mial: {from: a}\n", nil, "mail"},
		{"the alias of a subchart", "redis: {port: 2}\n", nil, "cache"},
		{"a condition", "db: {enable: true}\n", nil, "enabled"},
		{"of a subchart that is off only what would switch it on", "mail: {enabled: false, enabeld: true}\n", nil, "enabled"},
		{"and nothing else", "mail: {enabled: false, fromm: a}\n", nil, ""},
		{"a tag", "tags: {bakc: true}\n", nil, "back"},
		{"a global of a subchart", "global: {clas: a}\n", nil, "class"},
		{"nothing near", "elephant: 1\n", []string{"giraffe"}, ""},
	} {
		user, _, err := Parse([]byte(tc.user), "user")
		if err != nil {
			t.Fatal(err)
		}
		found := suspects(t, shop(t), user)
		if len(found) == 0 {
			t.Fatalf("%s: no suspects", tc.why)
		}
		if got := found[0].Meant(found[0].Keys[0].Name, tc.read); got != tc.want {
			t.Errorf("%s: meant %q, want %q", tc.why, got, tc.want)
		}
	}
}

// The tables to watch are those that templates will see: globals have one for each chart.
func TestUnknownKeysTables(t *testing.T) {
	found := suspects(t, shop(t), map[string]any{"global": map[string]any{"zoen": "x"}})
	if len(found) != 1 || len(found[0].Tables) < 3 {
		t.Fatalf("%+v", found)
	}
	for _, table := range found[0].Tables {
		if table["zoen"] != "x" {
			t.Errorf("%v is not the globals of a chart", table)
		}
	}
}

// The tables in a list are one: what is found and watched grows with their number, not with its square.
func TestUnknownKeysOfLists(t *testing.T) {
	items := make([]any, 1000)
	for i := range items {
		items[i] = map[string]any{"hots": 1, "paths": map[string]any{"a": 1}, fmt.Sprint("own", i): map[string]any{"b": 1}}
	}
	sub := map[string]any{"global": map[string]any{"zoen": 1}}
	user := map[string]any{"hosts": items, "global": map[string]any{"zoen": 1}, "db": sub, "cache": sub, "undeclared": sub}
	tables, more := 0, map[string]int{}
	for _, s := range suspects(t, shop(t), user) {
		tables += len(s.Tables)
		for _, key := range s.Keys {
			more[PathText(key.Path())] = key.More
		}
	}
	if tables > 4*len(items) {
		t.Errorf("%d tables are watched for %d items", tables, len(items))
	}
	for path, want := range map[string]int{"hosts[0].hots": 999, "hosts[0].paths.a": 999, "hosts[7].own7": 0, "global.zoen": 3} {
		if got, found := more[path]; got != want || !found {
			t.Errorf("%s: %d more have it (found: %v), want %d", path, got, found, want)
		}
	}
}

// A key below another is found by their branches, whatever the items are in which they are.
func TestUnknownKeysBranch(t *testing.T) {
	user := map[string]any{"hosts": []any{map[string]any{"host": "a"}, map[string]any{"paths": map[string]any{"a": 1}}}}
	found := suspects(t, shop(t), user)
	if len(found) != 2 || found[1].Keys[0].Branch.Above != found[0].Keys[0].Branch {
		t.Errorf("%+v", found)
	}
}

// Each source is read once, however many paths are looked up.
func TestOriginsReadOnce(t *testing.T) {
	reads := 0
	read := func(string) ([]byte, error) {
		reads++
		return []byte("a: 1\nb:\n- c: 2\n"), nil
	}
	got := Sources{Files: []string{"x"}}.Origins([][]string{{"a"}, {"b", "[0]", "c"}, {"d"}}, read)
	want := []Origin{{Name: "x", Line: 1}, {Name: "x", Line: 3}, {}}
	if diff := cmp.Diff(want, got); diff != "" || reads != 1 {
		t.Errorf("%d reads, %s", reads, diff)
	}
}

// The last source that gives a value counts, flags over files.
func TestOrigin(t *testing.T) {
	s := Sources{
		Files: []string{"a", "b", "-", "https://user:password@h/v?token=x"}, Set: []string{"x=1", "l[1].k=2"}, String: []string{"s=1"}, JSON: []string{`{"j":{"k":1}}`},
		File: []string{"f=a"}, Literal: []string{"t.u=1"},
	}
	read := files{"a": "x: 0\nv: {z: 1}\n", "b": "v: {z: 2}\nl: [q, null]\n", "-": "p: 1\n", "https://user:password@h/v?token=x": "u: 1\n"}.read
	for path, want := range map[string]string{
		"u": "https://h/v?withheld", // a URL may hold a secret
		"x": "--set", "l [1] k": "--set", "s": "--set-string", "j k": "--set-json", "f": "--set-file", "t u": "--set-literal",
		"l [0]": "b", // what --set fills a list with up to the entry that it sets is no value
		"v z":   "b", "p": "standard input", "nowhere": "", "x deeper": "",
	} {
		if got := s.Origins([][]string{strings.Fields(path)}, read)[0]; got.Name != want || (got.Line > 0) != (want == "b") {
			t.Errorf("%s comes from %v, want %q, and a line of a file", path, got, want)
		}
	}
}

// Subcharts that are switched on report that they are deprecated, once each.
func TestDeprecated(t *testing.T) {
	c := shop(t)
	c.Metadata.Deprecated = true
	for _, sub := range c.Dependencies() {
		sub.Metadata.Deprecated = true
	}
	user := map[string]any{"mail": map[string]any{"enabled": false}}
	got := ""
	_, _, warned, err := process(c, user)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range warned {
		got += w.String() + "\n"
	}
	want := `shop: chart shop is deprecated
shop/charts/cache: chart cache is deprecated
shop/charts/db: chart db is deprecated
shop/charts/undeclared: chart undeclared is deprecated
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
