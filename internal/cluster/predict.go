package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/immutable"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/managedfields"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/retry"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Predict makes a dry run of each step, concurrently, and returns the predictions by step ID.
// Refusals, and reasons why a dry run was not possible, are in them; only an unreachable cluster is
// an error. Of a kind about which the API server, which is reachable, does not answer in a namespace, no more
// objects are asked about there: each would take as long.
func (c *Client) Predict(ctx context.Context, steps []*plan.Step, o apply.WriteOptions) (map[string]plan.Prediction, error) {
	o.DryRun = true
	answers := make(map[string]plan.Prediction, len(steps))
	var mu sync.Mutex
	alike := map[schema.GroupKind]map[string]any{} // the last answer of each kind
	var silent sync.Map                            // where the API server does not answer: values of kindIn
	next := make(chan *plan.Step)
	group, ctx := errgroup.WithContext(ctx)
	for range min(retry.Concurrency, len(steps)) { // goroutines are reused: one for each step would grow a new stack every time
		group.Go(func() error {
			for s := range next {
				answer, err := c.predict(ctx, s, o, &silent)
				if err != nil {
					return err
				}
				mu.Lock()
				answers[s.ID] = answer
				if answer.After != nil {
					kind := s.Object.GroupKind()
					jsontree.Share(answer.After.Object, alike[kind], nearest(s))
					alike[kind] = answer.After.Object
				}
				mu.Unlock()
			}
			return nil
		})
	}
	group.Go(func() error {
		defer close(next)
		for _, s := range steps {
			select {
			case next <- s:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("dry run: %w", err)
	}
	return answers, nil
}

// kindIn is a kind in a namespace: which webhooks and admission policies see an object may depend on both.
type kindIn struct {
	schema.GroupKind
	namespace string
}

// predict makes the dry run of one step, unless silent has its kind and namespace; an error concerns the whole
// cluster.
func (c *Client) predict(ctx context.Context, s *plan.Step, o apply.WriteOptions, silent *sync.Map) (plan.Prediction, error) {
	kind := kindIn{s.Object.GroupKind(), s.Object.Namespace}
	if _, known := silent.Load(kind); known {
		return plan.Prediction{Estimated: "the API server was not asked: it did not answer about another " + kind.Kind}, nil
	}
	o = o.For(s)
	var warned []string
	ctx = context.WithValue(ctx, dryRunWarnings{}, &warned)
	after, err := c.foresee(ctx, s, o)
	forced := managedfields.OnlyKubectlConflicts(err)
	if forced {
		o.Force = true
		after, err = c.foresee(ctx, s, o)
	}
	switch {
	case err == nil:
	case ctx.Err() != nil, unreachable(err) && (apierrors.IsUnauthorized(err) || !c.answers(ctx)):
		return plan.Prediction{}, err
	case unreachable(err):
		silent.Store(kind, true)
	}
	told := answer(after, err)
	told.NeedsForce, told.Warnings = forced, warned
	return told, nil
}

// answers reports whether the API server answers at all, where it has not answered about an object: webhooks
// that are called one after another, for example, may take longer than an attempt.
func (c *Client) answers(ctx context.Context) bool {
	err := c.send(ctx, func(ctx context.Context) error {
		return c.core.RESTClient().Get().AbsPath("/version").Do(ctx).Error()
	})
	var api apierrors.APIStatus
	return err == nil || errors.As(err, &api) && api.Status().Code < 500
}

// nearest returns what most resembles the outcome of a step: the live object, else the body.
func nearest(s *plan.Step) any {
	switch {
	case s.Before != nil:
		return s.Before.Object
	case s.Body != nil:
		return s.Body.Object
	}
	return nil
}

// foresee is dryRun with retries.
func (c *Client) foresee(ctx context.Context, s *plan.Step, o apply.WriteOptions) (after *unstructured.Unstructured, err error) {
	err = c.read(ctx, func(ctx context.Context) (err error) {
		after, err = c.dryRun(ctx, s, o)
		return err
	})
	return after, err
}

// dryRun makes one attempt at the dry run of a step.
func (c *Client) dryRun(ctx context.Context, s *plan.Step, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	gv, err := schema.ParseGroupVersion(s.APIVersion)
	if err != nil {
		return nil, err
	}
	ref := apply.Ref{ID: s.Object, Version: gv.Version}
	switch {
	case s.Op == plan.OpRecreate:
		return c.dryRunReplacement(ctx, s.Body, o)
	case s.PatchType == types.ApplyPatchType, s.InPlace():
		data, err := json.Marshal(s.Body.Object)
		if err != nil {
			return nil, err
		}
		p := apply.Patch{Type: types.ApplyPatchType, Data: data}
		if s.TakesOver() {
			return c.dryRunAfterMigration(ctx, ref, p, s, o)
		}
		return c.Patch(ctx, ref, p, o)
	case s.Op == plan.OpCreate, s.Op == plan.OpRun:
		return c.Create(ctx, s.Body, o)
	case s.Op == plan.OpReplace:
		return c.dryReplace(ctx, s, ref, o)
	default:
		return c.Patch(ctx, ref, apply.Patch{Type: s.PatchType, Data: s.Patch}, o)
	}
}

// dryReplace replaces the object in its current version: a controller that writes the status
// between observation and dry run is not a reason for a refusal.
func (c *Client) dryReplace(ctx context.Context, s *plan.Step, ref apply.Ref, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	body := manifest.Sharing(s.Body)
	body.SetResourceVersion(s.Expect.ResourceVersion)
	body.SetUID(s.Expect.UID)
	return c.replaceNow(ctx, body, ref, o)
}

// replaceAttempts is how often a replace is retried after conflicts with other writers.
const replaceAttempts = 6

// replaceNow replaces the object with the body's UID in whatever version it is.
func (c *Client) replaceNow(ctx context.Context, body *unstructured.Unstructured, ref apply.Ref, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	after, err := c.Replace(ctx, body, o)
	for range replaceAttempts {
		if !apierrors.IsConflict(err) {
			break
		}
		live, getErr := c.Get(ctx, ref)
		if getErr != nil || live.GetUID() != body.GetUID() {
			break
		}
		body.SetResourceVersion(live.GetResourceVersion())
		after, err = c.Replace(ctx, body, o)
	}
	return after, err
}

// answer converts the response to a dry run to a prediction.
func answer(after *unstructured.Unstructured, err error) plan.Prediction {
	if err == nil {
		return plan.Prediction{After: after}
	}
	var api apierrors.APIStatus
	if !errors.As(err, &api) {
		return plan.Prediction{Estimated: "the API server could not be asked: " + err.Error()}
	}
	status := api.Status()
	switch {
	case strings.Contains(status.Message, "does not support dry run"):
		return plan.Prediction{Estimated: status.Message}
	case awayWebhook(status):
		return plan.Prediction{Estimated: strings.TrimPrefix(status.Message, "Internal error occurred: ")}
	case status.Code >= 500, apierrors.IsTooManyRequests(err), apierrors.IsTimeout(err):
		return plan.Prediction{Estimated: "the API server could not be asked: " + message(err)}
	}
	return plan.Prediction{Refused: refusal(err, status)}
}

// wholeObject is how the API server prints the path of a cause that concerns no field
// (k8s.io/apimachinery/pkg/util/validation/field/path.go, Path.String).
const wholeObject = "<nil>"

// refusal returns why a dry run was refused, and the fields and field managers concerned.
func refusal(err error, status metav1.Status) *plan.Refusal {
	r := &plan.Refusal{Reason: string(status.Reason), Message: message(err)}
	if d := status.Details; d != nil {
		for _, cause := range d.Causes {
			field := strings.TrimPrefix(cause.Field, ".") // the paths of server-side-apply conflicts begin with a dot
			if field != "" && field != wholeObject && !slices.Contains(r.Fields, field) {
				r.Fields = append(r.Fields, field)
			}
			if cause.Type == metav1.CauseTypeFieldManagerConflict {
				r.Managers = appendManager(r.Managers, cause.Message)
			}
		}
	}
	if fields := immutable.FromStatus(status); len(fields) > 0 {
		r.Immutable, r.Fields, r.Message = true, nil, fields[0].Why
		for _, f := range fields {
			if f.Path != "" {
				r.Fields = append(r.Fields, f.Path)
			}
		}
	}
	return r
}

var quotedManager = regexp.MustCompile(`conflict with "([^"]+)"`)

// appendManager adds the field manager that the message of a conflict names.
func appendManager(managers []string, cause string) []string {
	name := cause
	if m := quotedManager.FindStringSubmatch(cause); m != nil {
		name = m[1]
	}
	if slices.Contains(managers, name) {
		return managers
	}
	return append(managers, name)
}

// message returns an error's message, shortened to what users need.
func message(err error) string {
	var api apierrors.APIStatus
	if !errors.As(err, &api) {
		return err.Error()
	}
	status := api.Status()
	text := status.Message
	if status.Reason == metav1.StatusReasonInvalid && status.Details != nil && len(status.Details.Causes) > 0 {
		parts := make([]string, 0, len(status.Details.Causes))
		for _, cause := range status.Details.Causes {
			part := strings.TrimSpace(cause.Message)
			if cause.Field != "" && cause.Field != wholeObject {
				part = cause.Field + ": " + part
			}
			parts = append(parts, part)
		}
		text = strings.Join(parts, "; ")
	}
	return text
}
