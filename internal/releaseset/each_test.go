package releaseset

import (
	"strings"
	"testing"
)

// What an alias stands for has ${each} replaced, too.
func TestEachIsReplacedBehindAliases(t *testing.T) {
	set := read(t, `version: 1
defaults: {namespace: shop}
releases:
- {each: [dev], name: "a-${each}", chart: charts/web, values: [&v {host: "${each}.example.org"}]}
- {each: [prod, test], name: "b-${each}", chart: charts/web, values: [*v, {web: {<<: *v}}]}
`)
	want := []string{"{host: \"dev.example.org\"}\n", "{host: \"prod.example.org\"}\n{web: {<<: {host: \"prod.example.org\"}}}\n", "{host: \"test.example.org\"}\n{web: {<<: {host: \"test.example.org\"}}}\n"}
	for i, e := range set.Entries {
		var got string
		for _, v := range e.Values {
			got += string(v.Inline)
		}
		if got != want[i] {
			t.Errorf("%s: %q, want %q", e.Key, got, want[i])
		}
	}
	many := "[" + strings.Repeat("a, ", 20_000) + "b]"
	_, err := Read(files("version: 1\nreleases:\n- {each: "+many+", name: '${each}', namespace: shop, chart: charts/web, values: [{a: [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40]}]}\n"), "shop/releases.yaml")
	if err == nil || !strings.Contains(err.Error(), "each has 20001 names, which are too many for a release of this size") {
		t.Error(err)
	}
}
