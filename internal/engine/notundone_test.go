package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// store is a chart with a claim, a ConfigMap and a hook.
func store(values map[string]any) Source {
	source := shop(values)
	source.Chart.Values = map[string]any{"text": "one", "size": "1Gi", "hook": false}
	source.Chart.Templates = append(source.Chart.Templates, &chart.File{Name: "templates/claim.yaml", Data: []byte(`apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {resources: {requests: {storage: {{ .Values.size }}}}}
`)})
	return source
}

var claim = manifest.ID{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "data"}

// What the API server refuses to change back stays as it is, and everything else is restored. If the plan
// had not said so, the rollback counts as failed. --force is not for the rollback: no claim is deleted because
// it has grown.
func TestRollbackLeavesWhatIsRefused(t *testing.T) {
	size := func(c *clusterfake.Cluster) any {
		return c.Objects[claim].Object["spec"].(map[string]any)["resources"].(map[string]any)["requests"].(map[string]any)["storage"]
	}
	shrinks := &plan.Refusal{Reason: "Invalid", Immutable: true, Fields: []string{"spec.resources.requests.storage"}, Message: "field can not be less than status.capacity"}
	for name, test := range map[string]struct {
		refused  manifest.ID
		why      *plan.Refusal
		options  plan.Options
		size     string // of the claim, at the end
		text     string // of the ConfigMap
		rollback string // why it has failed
		left     string
		again    bool // the same upgrade has failed before, and was left as it was
	}{
		"a claim that has grown": {claim, shrinks, plan.Options{}, "2Gi", "one", "", "spec.resources.requests.storage is immutable", false},
		"a claim that has grown, with --force": {
			claim, shrinks, plan.Options{Force: true}, "2Gi", "one", "", "spec.resources.requests.storage is immutable", false,
		},
		"a claim that has grown before": {claim, shrinks, plan.Options{}, "2Gi", "one", "", "spec.resources.requests.storage is immutable", true},
		"another refusal": {
			configMap, &plan.Refusal{Reason: "Invalid", Message: "no rollback"},
			plan.Options{},
			"1Gi", "two",
			"everything is changed back but\n  ConfigMap/web: the API server refuses it: no rollback", "the API server refuses it: no rollback", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
				if _, err := b.deploy(Deployment{Source: store(nil), ServerSide: ServerSideOff}, nothing); err != nil {
					t.Fatal(err)
				}
				b.Cluster = failingJobs{c}
				c.Objects[claim].Object["status"] = map[string]any{"phase": "Bound"} // the rollback waits for it
				uid := c.Objects[claim].GetUID()
				grown := Deployment{
					Source: store(map[string]any{"text": "two", "size": "2Gi", "hook": true}), ServerSide: ServerSideOff, Options: test.options,
				}
				statuses := "superseded failed deployed"
				if test.again {
					statuses = "superseded failed failed deployed"
					if _, err := b.deploy(grown, nothing); err == nil {
						t.Fatal("the first upgrade succeeds")
					}
				}
				grown.Options.Atomic = true
				_, err := b.deploy(grown, func(*plan.Plan) {
					c.Trouble = func(int) clusterfake.Trouble {
						if size(c) == "2Gi" {
							c.Refuse = map[manifest.ID]*plan.Refusal{test.refused: test.why}
						}
						return clusterfake.Trouble{}
					}
				})
				var back *RolledBackError
				if !errors.As(err, &back) || len(back.NotUndone) != 1 || back.NotUndone[0].Object != test.refused || back.NotUndone[0].What != test.left {
					t.Fatalf("error %v", err)
				}
				failed := ""
				if back.Rollback != nil {
					failed = back.Rollback.Error()
				}
				if failed != test.rollback || !strings.Contains(err.Error(), test.refused.String()+": "+test.left) {
					t.Errorf("error %v, of the rollback %q, want %q", err, failed, test.rollback)
				}
				if text := c.Objects[configMap].Object["data"].(map[string]any)["text"]; text != test.text || size(c) != test.size || c.Objects[claim].GetUID() != uid {
					t.Errorf("the ConfigMap has %v, the claim %v (%s)", text, size(c), c.Objects[claim].GetUID())
				}
				if got := b.statuses(); got != statuses {
					t.Errorf("the history is %q", got)
				}
				if got := back.Back.Revision.Info.Description; !strings.HasSuffix(got, "; not undone: "+test.refused.String()) {
					t.Errorf("the description is %q", got)
				}
			})
		})
	}
}
