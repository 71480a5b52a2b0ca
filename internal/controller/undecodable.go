package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
)

// undecodable writes into the status of a HelmRelease that it can't be decoded, for example because
// a duration is too long: it fits the schema of its CRD, so the API server takes it. Nothing can be
// done until it changes. Of its status only the conditions are read, which may be all that can be.
func (r *reconciler) undecodable(ctx context.Context, o *helmRelease, why error) error {
	var status struct {
		ObservedGeneration int64              `json:"observedGeneration"`
		Conditions         []metav1.Condition `json:"conditions"`
	}
	if len(o.Status) > 0 {
		if err := json.Unmarshal(o.Status, &status); err != nil {
			return fmt.Errorf("read the conditions of HelmRelease %s/%s: %w", o.Namespace, o.Name, err)
		}
	}
	next := slices.Clone(status.Conditions)
	meta.RemoveStatusCondition(&next, flux.ConditionReconciling)
	message := reconcile.Terminal + why.Error()
	for name, is := range map[string]metav1.ConditionStatus{flux.ConditionReady: metav1.ConditionFalse, flux.ConditionStalled: metav1.ConditionTrue} {
		meta.SetStatusCondition(&next, metav1.Condition{
			Type: name, Status: is, Reason: reconcile.InvalidSpec, Message: message, ObservedGeneration: o.Generation,
		})
	}
	if status.ObservedGeneration == o.Generation && reflect.DeepEqual(status.Conditions, next) {
		return nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": o.ResourceVersion},
		"status":   map[string]any{"observedGeneration": o.Generation, "conditions": next},
	})
	if err != nil {
		return err
	}
	sent := o.DeepCopyObject().(*helmRelease)
	if err := r.client.Status().Patch(ctx, sent, client.RawPatch("application/merge-patch+json", patch), client.FieldOwner(flux.FieldManager)); err != nil {
		return client.IgnoreNotFound(err)
	}
	r.wrote.note(client.ObjectKeyFromObject(o), sent.ResourceVersion)
	r.events.tell(o, []reconcile.Event{{Warning: true, Reason: reconcile.InvalidSpec, Message: message}})
	return nil
}
