package plan_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// A stale plan says which fields of an object were changed (the first few), by whom and how long ago;
// for secrets it says only that they were changed.
func TestADifferenceNamesFieldsWriterAndTime(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	managers := []metav1.ManagedFieldsEntry{
		{Manager: "helm", Time: &metav1.Time{Time: at.Add(-time.Hour)}, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:paused":{}}}`)},
		{Manager: "kubectl", Time: &metav1.Time{Time: at.Add(-40 * time.Second)}, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`)},
	}
	web := manifest.ID{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	const what = "was changed since the plan was made"
	for want, d := range map[string]plan.Difference{
		"Deployment/web was changed since the plan was made (kubectl 40s ago): spec.replicas 1 → 3": {
			Object: web, What: what, Changes: []plan.Change{{Path: "spec.replicas", From: int64(1), To: int64(3)}},
		},
		"Deployment/web was changed since the plan was made: metadata.labels.a nothing → x, password changed, spec {\"a\":1} → nothing, and 1 more": {
			Object: web, What: what, Changes: []plan.Change{
				{Path: "metadata.labels.a", To: "x"},
				{Path: "password", From: "a", To: "b", Sensitive: true},
				{Path: "spec", From: map[string]any{"a": int64(1)}},
				{Path: "e"},
			},
		},
		"Deployment/web: patch is no longer needed": {Object: web, What: "patch is no longer needed"},
		"the order of the steps has changed":        {What: "the order of the steps has changed"},
	} {
		if got := d.By(plan.Observation{Managers: managers}, at).String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// A long value is not shown in part: a mask finds whole secrets only.
func TestDifferencesCutNoValue(t *testing.T) {
	long := "postgres://user:" + strings.Repeat("secret", 20) + "@db"
	d := plan.Difference{
		Object: manifest.ID{Kind: "ConfigMap", Name: "web"}, What: "was changed since the plan was made",
		Changes: []plan.Change{{Path: "data.url", From: "", To: long}, {Path: "data.text", From: "", To: "two"}},
	}
	const want = `ConfigMap/web was changed since the plan was made: data.url changed, data.text "" → two`
	if got := d.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A password that somebody has changed by hand is not repeated: it is in neither of the plans.
func TestStaleShowsNoCredentials(t *testing.T) {
	deployment := func(value string) manifest.Object {
		objects, err := manifest.ParseDocument("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n"+
			"spec: {template: {spec: {containers: [{name: web, env: [{name: DB_PASSWORD, value: "+value+"}]}]}}}\n", "web/templates/d.yaml")
		if err != nil {
			t.Fatal(err)
		}
		return objects[0]
	}
	upgrade := func(now string) *plan.Plan {
		in := oneChange(t)
		stored := deployment("first-one")
		in.Stored = plan.Stored([]plan.Sent{{Revision: 1, Objects: []manifest.Object{stored}}})
		in.Live = map[manifest.ID]plan.Observation{stored.ID: plan.Observed(live(deployment(now)))}
		in.Target.Objects = []manifest.Object{deployment("wanted-one")}
		return build(t, in)
	}
	const want = "Deployment/web was changed since the plan was made: spec.template.spec.containers[web].env[DB_PASSWORD] changed"
	if got := said(plan.Stale(upgrade("first-one"), upgrade("by-hand-one"))); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
