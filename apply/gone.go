package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// gone waits until no object with the UID exists.
func (r *run) gone(ctx context.Context, ref Ref, uid types.UID) error {
	limit := r.timeout()
	watching, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var last *unstructured.Unstructured
	seen := false
	err := r.env.Cluster.Watch(watching, ref.GVK(), ref.Namespace, []string{ref.Name}, func(_ string, object *unstructured.Unstructured) bool {
		last, seen = object, true
		return object != nil && (uid == "" || object.GetUID() == uid)
	})
	unread, unknown := errors.AsType[*UnreadError](err)
	switch {
	case err == nil:
		if ref.GroupKind() == kinds.Service {
			r.serviceGone.Store(true)
		}
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case unknown && seen:
		return fmt.Errorf("it still existed when it was last read%s; after %s it can't be read: %w", held(last), limit, unread.Err)
	case unknown:
		return fmt.Errorf("whether it still exists is not known after %s: %w", limit, unread.Err)
	case watching.Err() != nil && !seen:
		return fmt.Errorf("whether it still exists is not known after %s: the API server has not answered", limit)
	case watching.Err() != nil:
		return fmt.Errorf("it still exists after %s%s", limit, held(last))
	default:
		return err
	}
}

// held says what an object that is to be deleted waits for; "" for nil.
func held(object *unstructured.Unstructured) string {
	if object == nil || len(object.GetFinalizers()) == 0 {
		return ""
	}
	return ": it waits for the finalizers " + strings.Join(object.GetFinalizers(), ", ")
}
