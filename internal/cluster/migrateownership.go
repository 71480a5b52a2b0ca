package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/managedfields"
	"github.com/kubectl-release/kubectl-release/internal/patch"
	"github.com/kubectl-release/kubectl-release/internal/retry"
	"github.com/kubectl-release/kubectl-release/internal/serverfields"
	"github.com/kubectl-release/kubectl-release/plan"
)

// MigrateOwnership transfers the ownership of fields to o.FieldManager, as if it had applied them:
// what other managers own through plain updates, and the named fields. Fields in versions that are not
// served get into the object's, whoever owns them. It reads the current owners
// first, since controllers write the object all the time; the server answers with a conflict when
// they change in between. It sends nothing when nothing is left to transfer, so it can be repeated.
// An object that is gone, or has another UID, is not found and ignored: the apply itself will fail.
func (c *Client) MigrateOwnership(ctx context.Context, ref apply.Ref, uid types.UID, fields apply.Fields, o apply.WriteOptions) (found bool, err error) {
	live, err := c.Get(ctx, ref)
	switch {
	case retry.Missing(err):
		return false, nil
	case err != nil:
		return false, err
	case live.GetUID() != uid:
		return false, nil
	}
	data, err := ownershipPatch(live, fields, o.FieldManager)
	if err != nil {
		return true, fmt.Errorf("read who owns the fields of %s: %w", ref, err)
	}
	if data == nil {
		return true, nil
	}
	_, err = c.Patch(ctx, ref, apply.Patch{Type: types.JSONPatchType, Data: data}, o)
	return true, err
}

// ownershipPatch returns the JSON patch for MigrateOwnership, nil when there is nothing to do. It
// contains the resourceVersion, so the server answers with a conflict if the object has been written
// since.
func ownershipPatch(live *unstructured.Unstructured, fields apply.Fields, manager string) ([]byte, error) {
	before := live.GetManagedFields()
	entries, err := managedfields.InVersion(before, live.GetAPIVersion(), fields.Unserved)
	if err == nil && serverfields.IsSecret(live) {
		entries, err = managedfields.StringDataAsData(entries, fields.From...)
	}
	if err != nil {
		return nil, err
	}
	upgraded := live.DeepCopy()
	upgraded.SetManagedFields(entries)
	if err := csaupgrade.UpgradeManagedFields(upgraded, sets.New(fields.From...), manager); err != nil {
		return nil, err
	}
	after, err := managedfields.AsApplied(upgraded.GetManagedFields(), manager, live.GetAPIVersion(), fields.Paths)
	if err != nil {
		return nil, err
	}
	operations := patch.Emptying(live, fields.Emptied)
	if !equality.Semantic.DeepEqual(before, after) {
		operations = append(operations, map[string]any{"op": "replace", "path": "/metadata/managedFields", "value": after})
	}
	if len(operations) == 0 {
		return nil, nil
	}
	return json.Marshal(append(operations, map[string]any{"op": "replace", "path": "/metadata/resourceVersion", "value": live.GetResourceVersion()}))
}

// dryRunAfterMigration predicts a server-side apply that first takes over fields. One dry run can't
// do both, so there are two: the apply shows refusals, except for conflicts that the migration
// resolves, and a replace with the merged object shows the outcome. Whether the object is valid is
// decided by the replace: the apply alone leaves fields that the migration would remove, and may be
// refused for two ports with the same name. While somebody's fields are in a version that is not served, the
// API server applies nothing, so only the replace is asked about.
func (c *Client) dryRunAfterMigration(ctx context.Context, ref apply.Ref, p apply.Patch, s *plan.Step, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	if len(s.Unserved) == 0 {
		_, err := c.Patch(ctx, ref, p, o)
		if err = withoutMigrated(err, s.MigrateOwnership); err != nil && !apierrors.IsInvalid(err) {
			return nil, err
		}
	}
	body := s.After.DeepCopy()
	body.SetManagedFields(nil)
	after, err := c.replaceNow(ctx, body, ref, o)
	if apierrors.IsForbidden(err) || apierrors.IsConflict(err) {
		// The apply itself would succeed: only its outcome can't be predicted.
		return nil, errors.New(message(err))
	}
	return after, err
}

// withoutMigrated removes the conflicts with managers' plain updates from an error; it returns nil
// if there were no others. A conflict with an update, not an apply, has the apiVersion in its text
// (Kubernetes 1.36: `conflict with "helm" using apps/v1`;
// k8s.io/apimachinery/pkg/util/managedfields/internal/conflict.go, printManager).
func withoutMigrated(err error, managers []string) error {
	var refused *apierrors.StatusError
	if !errors.As(err, &refused) || refused.ErrStatus.Details == nil {
		return err
	}
	settled := func(cause metav1.StatusCause) bool {
		return cause.Type == metav1.CauseTypeFieldManagerConflict && slices.ContainsFunc(managers, func(m string) bool {
			return strings.HasPrefix(cause.Message, `conflict with "`+m+`" using `)
		})
	}
	causes := refused.ErrStatus.Details.Causes
	left := slices.DeleteFunc(slices.Clone(causes), settled)
	if len(causes) > 0 && len(left) == 0 {
		return nil
	}
	rest := apierrors.StatusError{ErrStatus: *refused.ErrStatus.DeepCopy()}
	rest.ErrStatus.Details.Causes = left
	return &rest
}
