package engine

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/plan"
)

// failingOnce is a cluster in which a Job fails if it is the first.
type failingOnce struct {
	*clusterfake.Cluster
	jobs *int
}

func (f failingOnce) Create(ctx context.Context, u *unstructured.Unstructured, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	if u.GetKind() == "Job" {
		if *f.jobs++; *f.jobs == 1 {
			return clusterfake.FailingJobs{Cluster: f.Cluster}.Create(ctx, u, o)
		}
	}
	return f.Cluster.Create(ctx, u, o)
}

// A hook that a failed run leaves behind, as its delete policy asks, does not keep the same hook from running
// when that run is undone.
func TestAHookThatHasFailedRunsAgainToUndoIt(t *testing.T) {
	const hook = "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: migrate, annotations: {helm.sh/hook-delete-policy: hook-succeeded, helm.sh/hook: "
	for events, test := range map[string]struct {
		installed bool
		statuses  string
	}{
		`"post-upgrade,post-rollback"`: {true, "superseded failed deployed"},
		`"post-install,post-delete"`:   {false, ""},
	} {
		t.Run(events, func(t *testing.T) {
			inCluster(t, func(t *testing.T, b bench, c *clusterfake.Cluster) {
				jobs := 0
				b.Cluster = failingOnce{c, &jobs}
				deploy := func(text string) error {
					_, err := b.deploy(Deployment{Options: plan.Options{Atomic: true}, Source: chartOf("shop",
						"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {text: "+text+"}\n"+hook+events+"}}\n")}, nothing)
					return err
				}
				if test.installed {
					if err := deploy("old"); err != nil {
						t.Fatal(err)
					}
				}
				err := deploy("new")
				var back *RolledBackError
				if !errors.As(err, &back) || back.Rollback != nil || jobs != 2 {
					t.Errorf("error %v, %d Jobs; want a rollback that runs the hook once more", err, jobs)
				}
				if got := b.statuses(); got != test.statuses {
					t.Errorf("the history is %q, want %q", got, test.statuses)
				}
			})
		})
	}
}
