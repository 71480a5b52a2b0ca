package apply_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/plan"
)

// fleeting is a cluster in which somebody deletes what has just been created under a name, and may create it again.
type fleeting struct {
	*clusterfake.Cluster
	name  string
	again bool
}

func (f fleeting) Create(ctx context.Context, u *unstructured.Unstructured, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	created, err := f.Cluster.Create(ctx, u, o)
	if err != nil || u.GetName() != f.name {
		return created, err
	}
	f.Mu.Lock()
	defer f.Mu.Unlock()
	delete(f.Objects, clusterfake.IDOf(u))
	if f.again {
		f.Put(u)
	}
	return created, nil
}

const frontend = `apiVersion: apps/v1
kind: Deployment
metadata: {name: frontend, namespace: shop}
`

// A wait ends when the object that this run has created was deleted, whether or not another one has its name.
func TestAWaitForADeletedObjectEnds(t *testing.T) {
	for name, c := range map[string]struct {
		lost  fleeting
		ttl   any
		wants string
	}{
		"resource":           {lost: fleeting{name: "frontend"}, wants: "it was deleted during the wait"},
		"resource, replaced": {lost: fleeting{name: "frontend", again: true}, wants: "it was deleted during the wait; another object now has its name"},
		"hook":               {lost: fleeting{name: "migrate"}, wants: "it was deleted before its end was seen, so whether it succeeded is not known"},
		"hook with a TTL": {
			lost: fleeting{name: "migrate"}, ttl: int64(0),
			wants: "it was deleted before its end was seen (its ttlSecondsAfterFinished is 0), so whether it succeeded is not known",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := installed(t)
				p := plannedWith(t, w, plan.Upgrade, revision(2, frontend), plan.Options{Wait: true})
				if c.ttl != nil {
					p.Steps(func(_ plan.StageName, s *plan.Step) {
						if s.Op == plan.OpRun {
							s.Body.Object["spec"].(map[string]any)["ttlSecondsAfterFinished"] = c.ttl
						}
					})
				}
				env := w.Env()
				c.lost.Cluster = w
				env.Cluster = c.lost
				_, err := apply.Run(t.Context(), p, env)
				var late *apply.NotReadyError
				if !errors.As(err, &late) {
					t.Fatalf("got %v", err)
				}
				if !late.Failed || late.Why != c.wants {
					t.Errorf("failed %t, because %s, want %s", late.Failed, late.Why, c.wants)
				}
			})
		})
	}
}
