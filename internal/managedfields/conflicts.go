package managedfields

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
)

// byKubectl matches a conflict with what kubectl's commands wrote by plain updates:
// `conflict with "kubectl-edit" using v1`, `conflict with "kubectl" with subresource
// "scale" using apps/v1` (Kubernetes 1.36). Only updates have an apiVersion in that
// text; kubectl apply --server-side is a different owner.
var byKubectl = regexp.MustCompile(`^conflict with "kubectl(-[a-z-]+)?"( with subresource "[^"]+")? using `)

// IsKubectlUpdate reports whether an entry of managedFields comes from a plain update by one of
// kubectl's commands.
func IsKubectlUpdate(entry metav1.ManagedFieldsEntry) bool {
	return IsKubectl(entry) && entry.Operation == metav1.ManagedFieldsOperationUpdate && entry.Subresource == ""
}

// IsKubectl reports whether an entry of managedFields comes from one of kubectl's commands.
func IsKubectl(entry metav1.ManagedFieldsEntry) bool {
	return entry.Manager == "kubectl" || strings.HasPrefix(entry.Manager, "kubectl-")
}

// OnlyKubectlConflicts reports whether a server-side apply was refused for nothing but
// conflicts with kubectl's plain updates: somebody has edited, patched or scaled the
// object. That is drift, which the next apply reverts. Conflicts with controllers and
// other tools remain conflicts.
func OnlyKubectlConflicts(err error) bool {
	var refused apierrors.APIStatus
	if !apierrors.IsConflict(err) || !errors.As(err, &refused) || refused.Status().Details == nil {
		return false
	}
	causes := refused.Status().Details.Causes
	return len(causes) > 0 && !slices.ContainsFunc(causes, func(c metav1.StatusCause) bool {
		return c.Type != metav1.CauseTypeFieldManagerConflict || !byKubectl.MatchString(c.Message)
	})
}

// Conflict is a field that a server-side apply changes although another manager owns it.
type Conflict struct {
	// Path is the field as fielddiff names it.
	Path string
	// Owner is the entry of the manager that owns it.
	Owner metav1.ManagedFieldsEntry
}

// ByKubectl reports whether the field was changed by hand, by a plain update of the object or of a subresource: see
// OnlyKubectlConflicts.
func (c Conflict) ByKubectl() bool {
	return IsKubectl(c.Owner) && c.Owner.Operation == metav1.ManagedFieldsOperationUpdate
}

// Conflicts foresees for which fields a server-side apply of the body is refused unless it is forced: those that
// it sets to another value than the live object has and that, by these entries, others own.
func Conflicts(entries []metav1.ManagedFieldsEntry, live, body map[string]any) []Conflict {
	var found []Conflict
	for _, c := range fielddiff.Compare(live, body) {
		if c.To == nil { // what the body does not set is left to its other owners
			continue
		}
		if owner := LastWriter(entries, live, c.Path); owner.Manager != "" {
			found = append(found, Conflict{c.Path, owner})
		}
	}
	return found
}
