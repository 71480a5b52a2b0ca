//go:build cluster

package controller_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/porttest"
)

// request is what an audit log says about a request.
type request struct {
	Verb, UserAgent, RequestURI string
	Stage                       string
}

// since returns the requests of controllers after the given line of the audit log, without those for
// the leader's lease and the watches of caches.
func since(t testing.TB, line int) []request {
	t.Helper()
	data, err := os.ReadFile(audit)
	if err != nil {
		t.Fatal(err)
	}
	var out []request
	for _, text := range strings.Split(strings.TrimSpace(string(data)), "\n")[line:] {
		var r request
		if json.Unmarshal([]byte(text), &r) != nil || !controllers.MatchString(r.UserAgent) {
			continue
		}
		if r.Verb == "watch" || strings.Contains(r.RequestURI, "/leases/helm-controller-leader-election") {
			continue
		}
		out = append(out, r)
	}
	return out
}

// quiet waits until the controller has stopped sending requests, after passes that look once more at
// what was written, and returns how many lines the audit log has then.
func quiet(t testing.TB) int {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		from := lines(t, audit)
		time.Sleep(3 * time.Second)
		if len(since(t, from)) == 0 {
			return lines(t, audit)
		}
	}
	t.Fatal("the controller does not come to rest")
	return 0
}

// passInSync waits until n more passes have found nothing to do.
func (r *rig) passInSync(metrics string, n int) {
	r.Helper()
	passes := func() int {
		_, text := fetch(r.TB, metrics, "/metrics")
		_, rest, _ := strings.Cut(text, "\nkubectl_release_unchanged_passes_total ")
		n, _, _ := strings.Cut(rest, "\n")
		out, _ := strconv.ParseFloat(n, 64)
		return int(out)
	}
	before := passes()
	r.eventually("there are passes in sync", func() bool { return passes() >= before+n })
}

// controllers matches the user agents of ours and of helm-controller, which applies under the name of
// net/http.
var controllers = regexp.MustCompile(`^(kubectl-release-controller|helm-controller|Helm|Go-http-client)\b`)

// A pass in sync sends no request and writes nothing, even with values from a Secret and a dependency;
// what changes is seen by the next one.
func TestCheck42InSyncCostsNothing(t *testing.T) {
	r := newRig(t)
	r.publish("app", "1.0.0", settings(""))
	cluster.Apply(t, r.namespace, "{apiVersion: v1, kind: Secret, metadata: {name: values}, stringData: {values.yaml: 'msg: secret'}}")
	metrics := porttest.FreeAddress(t)
	c := r.start("--metrics-addr=" + metrics)
	const often = "interval: 1s, timeout: 30s, chartRef: {kind: HelmChart, name: app}"
	apply := func(name, more string) {
		cluster.Apply(t, r.namespace, "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: "+name+"}, spec: {"+often+more+"}}")
	}
	apply("base", "")
	apply("web", ", dependsOn: [{name: base}], valuesFrom: [{kind: Secret, name: values}]")
	r.ready("base", "1.0.0")
	r.ready("web", "1.0.0")
	from := quiet(t)
	version := r.get("web").Object["metadata"].(map[string]any)["resourceVersion"]
	r.passInSync(metrics, 10)
	if sent := since(t, from); len(sent) > 0 {
		t.Errorf("passes in sync send %d requests: %v", len(sent), sent)
	}
	if now := r.get("web").Object["metadata"].(map[string]any)["resourceVersion"]; now != version {
		t.Errorf("the HelmRelease was written: %s, before %s", now, version)
	}
	cluster.Apply(t, r.namespace, "{apiVersion: v1, kind: Secret, metadata: {name: values}, stringData: {values.yaml: 'msg: new'}}")
	r.eventually("the new value is released", func() bool {
		return r.kubectl("get", "cm", "web-settings", "-o", "jsonpath={.data.msg}") == "new"
	})
	if strings.Contains(c.log.String(), "msg: new") {
		t.Error("the log holds the content of a Secret")
	}
}
