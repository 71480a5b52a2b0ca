//go:build cluster

package sources_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestSearchInARegistry(t *testing.T) {
	r, s, h := plainRegistry(t), secureRegistry(t), newHome(t)
	for _, version := range []string{"1.0.0", "1.10.0", "1.9.0+b.1", "2.0.0-rc.1"} {
		h.ok("push", h.chartFile("web", version, ""), "oci://"+r.Host+"/charts")
	}
	h.ok("push", h.chartFile("pre", "0.1.0-rc.1", ""), "oci://"+r.Host+"/charts")
	web := "oci://" + r.Host + "/charts/web"
	tagAs(t, "http://"+r.Host+"/v2/charts/web/manifests/", "1.0.0", "stable")
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{nil, "[{1.10.0 1.10.0}]"},
		{[]string{"--devel"}, "[{2.0.0-rc.1 2.0.0-rc.1}]"},
		{[]string{"--version", "<1.10"}, "[{1.9.0+b.1 1.9.0_b.1}]"},
		{[]string{"--versions"}, "[{1.10.0 1.10.0} {1.9.0+b.1 1.9.0_b.1} {1.0.0 1.0.0} { stable}]"},
		{[]string{"-l", "--version", "^3"}, "[]"},
	} {
		var rows []struct{ Name, Version, Tag string }
		must(t, json.Unmarshal([]byte(h.ok(append([]string{"search", web, "-o", "json"}, c.flags...)...).out), &rows))
		var got []struct{ Version, Tag string }
		for _, row := range rows {
			if row.Name != web {
				t.Errorf("%+v", row)
			}
			got = append(got, struct{ Version, Tag string }{row.Version, row.Tag})
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%q: %v, want %s", c.flags, got, c.want)
		}
	}
	// It shows what install would take, and needs only one request.
	r.Forget()
	if out := h.ok("search", web).out; !strings.Contains(out, web) || strings.Count(out, "\n") != 2 {
		t.Error(out)
	}
	if asked := r.Asked(); len(asked) != 1 || asked[0] != "GET /v2/charts/web/tags/list 200" {
		t.Errorf("asked %q", asked)
	}
	if out := h.ok("show", "chart", web).out; !strings.Contains(out, "version: 1.10.0\n") {
		t.Error(out)
	}
	if out := h.ok("search", web, "-o", "yaml").out; !strings.HasPrefix(out, "- name: "+web+"\n") {
		t.Error(out)
	}
	pre := "oci://" + r.Host + "/charts/pre"
	if r := h.k("search", pre, "--fail-on-no-result"); r.code != 1 || r.out != "No results found\n" {
		t.Errorf("%+v", r)
	}
	h.fails(10, "there is no chart oci://", "search", "oci://"+r.Host+"/charts/nope")
	h.fails(1, "leave out the tag", "search", web+":1.0.0")
	h.fails(1, "improper constraint", "search", web, "--version", "one")
	h.fails(1, "unknown command", "search", "nope")
	access := []string{"--ca-file", s.CAFile, "--username", "u", "--password", "p"}
	h.ok(append([]string{"push", "web-1.0.0.tgz", "oci://" + s.Host + "/charts"}, access...)...)
	if out := h.ok(append([]string{"search", "oci://" + s.Host + "/charts/web"}, access...)...).out; !strings.Contains(out, "1.0.0") {
		t.Error(out)
	}
	h.fails(11, "wants a user name", "search", "oci://"+s.Host+"/charts/web", "--ca-file", s.CAFile)
}
