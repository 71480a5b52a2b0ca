//go:build cluster

package flux_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	clusterapi "github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/fluxtest"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
)

// Check 47: what helm-controller left in sync, our pass finds in sync, too: statuses, records and
// digests are the recorded ones, and it makes no revision, writes no record and changes nothing in the
// status. So when helm-controller comes back, it finds what it left. When there is something to do,
// ours writes what it would write; the replays check that.
func TestCheck47HandOver(t *testing.T) {
	local := prepared(t)
	n := 0
	for _, trace := range replayable(t) {
		step := handedOver(trace)
		if step == nil {
			continue
		}
		n++
		t.Run(trace.Name, func(t *testing.T) {
			r := &replay{t: t, trace: trace, objects: dynamic.NewForConfigOrDie(cluster.Config(t)), local: local, reconciler: &reconcile.Reconciler{
				Local: local, Connect: reconcile.NewConnector(cluster.Config(t), clusterapi.Options{}, time.Now), Now: time.Now,
				Holder: "hand-over", ToolVersion: "hand-over", Compatible: true,
			}}
			restore(t, step, step)
			r.commit(step)
			sources(t, step)
			r.values(step)
			before := r.versions(step)
			found := r.get(helmReleases, step.HelmRelease.Metadata.Namespace, step.HelmRelease.Metadata.Name)
			hr, err := flux.DecodeHelmRelease(found.Object)
			if err != nil {
				t.Fatal(err)
			}
			out, err := r.pass(&fluxtest.Step{}, hr)
			if err != nil || out.Changed || out.Again || len(r.events) > 0 {
				t.Errorf("%s: %v, changed %t, events %+v, status %+v", step.Name, err, out.Changed, r.events, out.Status)
			}
			if after := r.versions(step); !slices.Equal(before, after) {
				t.Errorf("%s: records were %q and are %q", step.Name, before, after)
			}
		})
	}
	const enough = 20
	if n < enough && len(replayable(t)) > enough {
		t.Errorf("%d HelmReleases are handed over, want %d", n, enough)
	}
	t.Logf("%d HelmReleases", n)
}

// handedOver returns the last step of a trace that was left in sync, nil if there is none. What looks
// at live objects, or acts as somebody else, needs more than is restored.
func handedOver(trace *fluxtest.Trace) *fluxtest.Step {
	for _, step := range slices.Backward(trace.Steps) {
		hr := step.HelmRelease
		if hr == nil || !step.Settled || untouched[step.Name] != "" || byHand.MatchString(step.Applied) || hr.Spec.Suspend || hr.DriftMode() != "" || hr.Spec.ServiceAccountName != "" || hr.Spec.KubeConfig != nil || len(hr.Spec.DependsOn) > 0 {
			continue
		}
		preserves := hr.Spec.Upgrade != nil && hr.Spec.Upgrade.PreserveValues // which are never in sync
		if !preserves && flux.ConditionTrue(hr.Status.Conditions, "Ready") && hr.Status.ObservedGeneration == hr.Metadata.Generation {
			return step
		}
	}
	return nil
}

// values puts the ConfigMaps and Secrets of valuesFrom on the control plane.
func (r *replay) values(step *fluxtest.Step) {
	for _, ref := range step.HelmRelease.Spec.ValuesFrom {
		for _, o := range step.Objects {
			u := &unstructured.Unstructured{Object: o}
			if u.GetKind() != ref.Kind || u.GetName() != ref.Name || u.GetNamespace() != step.HelmRelease.Metadata.Namespace {
				continue
			}
			put := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": ref.Kind, "data": o["data"]}}
			put.SetName(ref.Name)
			of := map[string]string{"ConfigMap": "configmaps", "Secret": "secrets"}[ref.Kind]
			in := r.objects.Resource(corev1.SchemeGroupVersion.WithResource(of)).Namespace(u.GetNamespace())
			if _, err := in.Apply(context.Background(), ref.Name, put, metav1.ApplyOptions{FieldManager: "recorder", Force: true}); err != nil {
				r.t.Fatal(err)
			}
		}
	}
}

// versions returns the versions of the records.
func (r *replay) versions(step *fluxtest.Step) (out []string) {
	list, err := r.local.CoreV1().Secrets(step.HelmRelease.StorageNamespace()).List(context.Background(), metav1.ListOptions{LabelSelector: "owner=helm"})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, s := range list.Items {
		out = append(out, fmt.Sprintf("%s %s %s", s.Name, s.UID, s.ResourceVersion))
	}
	return out
}
