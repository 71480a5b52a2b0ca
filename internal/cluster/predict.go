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
	"github.com/kubectl-release/kubectl-release/internal/patch"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Predict asks the server what each step would do, side by side. Refusals and
// what could not be asked are in the answers; only a cluster that can't be
// reached is an error.
func (c *Client) Predict(ctx context.Context, steps []plan.Step, o apply.WriteOptions) (map[string]plan.Prediction, error) {
	o.DryRun = true
	answers := make(map[string]plan.Prediction, len(steps))
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(Concurrency)
	for _, s := range steps {
		group.Go(func() error {
			after, err := c.dryRun(ctx, s, o)
			if err != nil && ctx.Err() != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			answers[s.ID] = answer(after, err)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("dry run: %w", err)
	}
	return answers, nil
}

func (c *Client) dryRun(ctx context.Context, s plan.Step, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	gv, err := schema.ParseGroupVersion(s.APIVersion)
	if err != nil {
		return nil, err
	}
	ref := apply.Ref{ID: s.Object, Version: gv.Version}
	switch {
	case s.Op == plan.OpRecreate:
		return c.dryRunAnew(ctx, s.Body, o)
	case s.PatchType == types.ApplyPatchType:
		data, err := json.Marshal(s.Body)
		if err != nil {
			return nil, err
		}
		p := apply.Patch{Type: s.PatchType, Data: data}
		if len(s.HandOver) > 0 {
			return c.dryRunAfterHandOver(ctx, ref, p, s, o)
		}
		return c.Patch(ctx, ref, p, o)
	case s.Op == plan.OpCreate:
		return c.Create(ctx, s.Body, o)
	case s.Op == plan.OpReplace:
		body := s.Body.DeepCopy()
		body.SetResourceVersion(s.Expect.ResourceVersion)
		return c.Replace(ctx, body, o)
	default:
		return c.Patch(ctx, ref, apply.Patch{Type: s.PatchType, Data: s.Patch}, o)
	}
}

// answer translates the server's reply.
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
		return plan.Prediction{Estimated: "an admission webhook does not support dry runs"}
	case status.Code >= 500, apierrors.IsTooManyRequests(err), apierrors.IsTimeout(err):
		return plan.Prediction{Estimated: "the API server could not be asked: " + message(err)}
	}
	return plan.Prediction{Refused: refusal(err, status)}
}

func refusal(err error, status metav1.Status) *plan.Refusal {
	r := &plan.Refusal{Reason: string(status.Reason), Message: message(err)}
	if d := status.Details; d != nil {
		for _, cause := range d.Causes {
			if cause.Field != "" && !slices.Contains(r.Fields, cause.Field) {
				r.Fields = append(r.Fields, cause.Field)
			}
			if cause.Type == metav1.CauseTypeFieldManagerConflict {
				r.Managers = appendManager(r.Managers, cause.Message)
			}
		}
	}
	if fields := patch.ImmutableFromStatus(status); len(fields) > 0 {
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

// message is what an error says, shortened to what its reader needs.
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
			if cause.Field != "" && cause.Field != "<nil>" {
				part = cause.Field + ": " + part
			}
			parts = append(parts, part)
		}
		text = strings.Join(parts, "; ")
	}
	return text
}
