//go:build cluster

package sources_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// hubAnswer is an answer in Artifact Hub's format, with something that should not reach a terminal.
const hubAnswer = `{"data":[
 {"id":"artifact-hub/acme/redis","type":"chart","artifactHub":{"packageUrl":"https://hub.example.com/packages/helm/acme/redis"},
  "attributes":{"name":"redis","description":"keeps <data> \u001b[31m in memory, at a length that the columns of a table do not have room for","repo":{"name":"acme","url":"https://charts.example.com"}},
  "relationships":{"latestChartVersion":{"data":{"version":"1.2.3","app_version":"7.0"}}}},
 {"id":"acme/other","attributes":{"description":"","repo":{}},"relationships":{"latestChartVersion":{"data":{"version":"0.1.0","app_version":""}}}}]}`

// As JSON, what a hub finds is what Helm prints, and the hub is asked as Helm asks it. Of the tables only a
// URL is compared with Helm's.
func TestSearchHubIsHelms(t *testing.T) {
	asked := make(chan string, 100)
	var answer atomic.Value
	answer.Store(hubAnswer)
	hub := sourcetest.Serve(t, sourcetest.Options{Fault: func(w http.ResponseWriter, q *http.Request, _ int) bool {
		asked <- q.Method + " " + q.URL.String()
		_, _ = w.Write([]byte(answer.Load().(string)))
		return true
	}})
	h := newHome(t)
	for _, words := range [][]string{{"redis"}, {"in memory"}, {"in", "memory"}, {}} {
		line := append([]string{"search", "hub", "--endpoint", hub.URL, "-o", "json"}, words...)
		var ours, theirs []any
		must(t, json.Unmarshal([]byte(h.ok(line...).out), &ours))
		must(t, json.Unmarshal([]byte(h.helm(line...).out), &theirs))
		if a, b := canonical(t, ours), canonical(t, theirs); a != b || len(ours) != 2 {
			t.Errorf("%q: ours:\n%s\nHelm's:\n%s", words, a, b)
		}
		if a, b := <-asked, <-asked; a != b {
			t.Errorf("we ask %q, and Helm %q", a, b)
		}
	}
	for _, flags := range [][]string{nil, {"--list-repo-url"}, {"--max-col-width", "0"}} {
		line := append([]string{"search", "hub", "redis", "--endpoint", hub.URL}, flags...)
		ours, theirs := h.ok(line...).out, h.helm(line...).out
		if strings.Contains(ours, "\x1b") || !strings.Contains(ours, "CHART VERSION") {
			t.Errorf("%q", ours)
		}
		if a, b := strings.Fields(ours), strings.Fields(theirs); flags != nil && flags[0] == "--list-repo-url" && a[len(a)-1] != b[len(b)-1] {
			t.Errorf("ours:\n%s\nHelm's:\n%s", ours, theirs)
		}
	}
	answer.Store(`{"data":[]}`)
	if r := h.k("search", "hub", "nothing", "--endpoint", hub.URL, "--fail-on-no-result"); r.code != 1 || !strings.Contains(r.out, "No results found") {
		t.Errorf("%+v", r)
	}
	for text, want := range map[string]string{"[]": "does not answer as a hub", "<html>": "a web page came instead of its answer"} {
		answer.Store(text)
		h.fails(1, want, "search", "hub", "--endpoint", hub.URL)
	}
	h.fails(1, "is not the URL of a hub", "search", "hub", "--endpoint", "nowhere")
}
