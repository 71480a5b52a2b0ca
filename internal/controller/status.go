package controller

import (
	"context"
	"encoding/json"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
)

// reporter returns the function by which a pass writes what it has done so far. *was is the status as
// it was last written.
func (r *reconciler) reporter(v *view, was *flux.HelmReleaseStatus) reconcile.Report {
	o := v.object
	return func(ctx context.Context, status flux.HelmReleaseStatus, told []reconcile.Event) error {
		if err := r.verify(ctx, v); err != nil {
			return err
		}
		r.tell(o, told)
		if err := r.writeStatus(ctx, v, *was, status); err != nil {
			return err
		}
		*was = status
		return nil
	}
}

// writeStatus sends what has changed in the status; if nothing has, it makes no request.
// Fields of later API versions stay as they are. The patch names the resource version that was
// last seen: a process that has slept through the end of its lease must not overwrite its
// successor's history. If only something else has changed, such as an annotation, it is sent
// again. It returns errBehind if somebody else has written the status in the meantime, or an
// error of the API server.
func (r *reconciler) writeStatus(ctx context.Context, v *view, was, is flux.HelmReleaseStatus) error {
	changed, err := statusPatch(was, is)
	if err != nil || changed == nil {
		return err
	}
	for {
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": v.object.ResourceVersion}, "status": changed})
		if err != nil {
			return err
		}
		sent := v.object.DeepCopyObject().(*helmRelease)
		err = r.client.Status().Patch(ctx, sent, client.RawPatch("application/merge-patch+json", patch), client.FieldOwner(flux.FieldManager))
		if err == nil {
			v.object.ResourceVersion = sent.ResourceVersion
			r.wrote.note(client.ObjectKeyFromObject(v.object), sent.ResourceVersion)
			return nil
		}
		if !apierrors.IsConflict(err) {
			return err
		}
		if err := r.catchUp(ctx, v, was); err != nil {
			return err
		}
	}
}

// catchUp updates the view to the newest object, if that still has the status that was written
// last. It returns errBehind if not, or an error of the API server.
func (r *reconciler) catchUp(ctx context.Context, v *view, was flux.HelmReleaseStatus) error {
	fresh := &view{object: &helmRelease{}}
	fresh.object.Namespace, fresh.object.Name = v.object.Namespace, v.object.Name
	if err := r.refresh(ctx, fresh); err != nil {
		return err
	}
	differs, err := statusPatch(fresh.hr.Status, was)
	if err != nil {
		return err
	}
	if differs != nil || fresh.object.UID != v.object.UID {
		v.behind = true
		return errBehind
	}
	v.object.ObjectMeta = fresh.object.ObjectMeta
	return nil
}

// statusPatch returns the merge patch from one status to the next, or nil if they are the
// same. Top-level fields are sent whole.
func statusPatch(was, is flux.HelmReleaseStatus) (map[string]any, error) {
	before, err := fields(was)
	if err != nil {
		return nil, err
	}
	after, err := fields(is)
	if err != nil {
		return nil, err
	}
	changed := map[string]any{}
	for name, value := range after {
		if !reflect.DeepEqual(before[name], value) {
			changed[name] = value
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			changed[name] = nil
		}
	}
	if len(changed) == 0 {
		return nil, nil
	}
	return changed, nil
}

func fields(s flux.HelmReleaseStatus) (map[string]any, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(data, &out)
}

// inSync reports whether the status after a pass asks for nothing more: everything is as it
// should be until something changes.
func inSync(hr *flux.HelmRelease) bool {
	return decision.Ready(hr) && !hr.Spec.Suspend && hr.Metadata.DeletionTimestamp == nil &&
		flux.Condition(hr.Status.Conditions, flux.ConditionReconciling) == nil
}
