package cluster

import (
	"context"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// fieldValidation asks the API server to warn about fields that it does not know and drops, as it does
// by default, and thus for Helm 3. Helm 4 asks it to refuse them, in hooks as well (4.3.1,
// pkg/kube/client.go, Create).
func fieldValidation(o apply.WriteOptions) string {
	if o.Strict {
		return metav1.FieldValidationStrict
	}
	return metav1.FieldValidationWarn
}

// warnings passes on each distinct warning of the API server once, unless a dry run of Predict has had it.
type warnings struct {
	// telling is locked while warn is called, which may take long: what it writes to may stand still. Requests
	// whose warnings are known do not wait for it.
	telling sync.Mutex
	mu      sync.Mutex // of seen
	// seen are those since it was last emptied, at most mostSeen: a client may live as long as a controller.
	seen map[string]bool
	warn func(string)
}

// mostSeen is more than one run warns about.
const mostSeen = 1000

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext. The API server only uses
// code 299 (https://kubernetes.io/blog/2020/09/03/warnings/).
func (w *warnings) HandleWarningHeaderWithContext(ctx context.Context, code int, _, text string) {
	if code != 299 || text == "" {
		return
	}
	predicted, dry := ctx.Value(dryRunWarnings{}).(*[]string)
	if dry && !slices.Contains(*predicted, text) {
		*predicted = append(*predicted, text)
	}
	if about, known := ctx.Value(sentObject{}).(manifest.ID); known && strings.HasPrefix(text, unknownField) {
		text = about.String() + ": " + text
	}
	if w.know(text) || dry || w.warn == nil {
		return
	}
	w.telling.Lock()
	defer w.telling.Unlock()
	w.warn(text)
}

// know adds a warning to those that were seen; known reports whether it was there already.
func (w *warnings) know(text string) (known bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen[text] {
		return true
	}
	if len(w.seen) == mostSeen {
		clear(w.seen)
	}
	w.seen[text] = true
	return false
}

// dryRunWarnings is the key of the warnings in the dry run of a step, in the context of its requests:
// they become part of the prediction, and are not passed on when the step is applied.
type dryRunWarnings struct{}

// unknownField begins the API server's warnings about unknown fields, which do not say in which object
// (k8s.io/apimachinery 0.37, pkg/runtime/converter.go, and sigs.k8s.io/json, kubernetes_patch.go).
const unknownField = "unknown field "

// sentObject is the key of the object that a request sends, in its context.
type sentObject struct{}

// sending returns the context of a request that sends the object.
func sending(ctx context.Context, id manifest.ID) context.Context {
	return context.WithValue(ctx, sentObject{}, id)
}
