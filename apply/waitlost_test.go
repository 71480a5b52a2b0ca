package apply_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

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

// blind is a cluster whose Deployments can't be read, except for a last state if it has one: why says what a watch
// knows of that.
type blind struct {
	*clusterfake.Cluster
	last *unstructured.Unstructured
	why  error
}

func (b blind) Watch(ctx context.Context, kind schema.GroupVersionKind, namespace string, names []string, see func(string, *unstructured.Unstructured) bool) error {
	if kind.Kind != "Deployment" {
		return b.Cluster.Watch(ctx, kind, namespace, names, see)
	}
	if b.last != nil {
		see(b.last.GetName(), b.last)
	}
	<-ctx.Done()
	if b.why == nil {
		return ctx.Err()
	}
	return &apply.UnreadError{Cause: ctx.Err(), Err: b.why}
}

// A wait in which nothing could be read says why. It does not say that an object is still there that nobody has seen, or
// that can't be read any more.
func TestAWaitSaysWhyNothingIsKnown(t *testing.T) {
	webhook := errors.New("conversion webhook: no route to host")
	for name, c := range map[string]struct {
		text string // of the new revision
		why  error
		says string
		seen bool
	}{
		"ready, refused":       {selecting("old"), webhook, "Deployment/frontend is not ready: its state is not known: conversion webhook: no route to host (gave up after 1m0s)", false},
		"ready, no reply":      {selecting("old"), nil, "Deployment/frontend is not ready: nothing is known yet (gave up after 1m0s)", false},
		"gone, refused":        {selecting("new"), webhook, "recreate Deployment/frontend: whether it still exists is not known after 1m0s: conversion webhook: no route to host", false},
		"gone, no reply":       {selecting("new"), nil, "recreate Deployment/frontend: whether it still exists is not known after 1m0s: the API server has not answered", false},
		"ready, refused later": {selecting("old"), webhook, "Deployment/frontend is not ready: 0 of 1 replica is ready; since then it can't be read: conversion webhook: no route to host (gave up after 1m0s)", true},
		"gone, refused later":  {selecting("new"), webhook, "recreate Deployment/frontend: it still existed when it was last read; after 1m0s it can't be read: conversion webhook: no route to host", true},
		"gone, no more news":   {selecting("new"), nil, "recreate Deployment/frontend: it still exists after 1m0s", true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := clusterfake.New()
				if _, err := apply.Run(t.Context(), planned(t, w, plan.Install, revision(1, selecting("old"))), w.Env()); err != nil {
					t.Fatal(err)
				}
				p := plannedWith(t, w, plan.Upgrade, revision(2, c.text), plan.Options{Wait: true, Force: true, Timeout: time.Minute})
				env := w.Env()
				blinded := blind{Cluster: w, why: c.why}
				if c.seen {
					blinded.last = w.Objects[frontendID].DeepCopy()
				}
				env.Cluster = blinded
				if _, err := apply.Run(t.Context(), p, env); err == nil || err.Error() != c.says {
					t.Errorf("it says %v\nwant %s", err, c.says)
				}
			})
		})
	}
}
