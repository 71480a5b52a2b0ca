package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// stalls and stallsOfKnown are how many attempts of a read may time out before it is given up:
// for a server that has not answered any request yet, and for one that has.
const stalls, stallsOfKnown = 2, 3

// noRetry is a REST client that sends every request a single time. client-go's
// own repeats up to ten times whatever is answered with Retry-After, writes
// too, and can't be interrupted by those who count attempts. Whoever calls
// knows better, see docs/retries.md.
type noRetry struct{ rest.Interface }

func (o noRetry) Verb(verb string) *rest.Request { return o.Interface.Verb(verb).MaxRetries(0) }
func (o noRetry) Post() *rest.Request            { return o.Interface.Post().MaxRetries(0) }
func (o noRetry) Put() *rest.Request             { return o.Interface.Put().MaxRetries(0) }
func (o noRetry) Get() *rest.Request             { return o.Interface.Get().MaxRetries(0) }
func (o noRetry) Delete() *rest.Request          { return o.Interface.Delete().MaxRetries(0) }
func (o noRetry) Patch(t types.PatchType) *rest.Request {
	return o.Interface.Patch(t).MaxRetries(0)
}

// metadataOnly is a REST client whose answers are the metadata of objects: the
// server need not send, nor we read, what is not used. A server that can't
// do so answers with the whole object.
type metadataOnly struct{ rest.Interface }

const acceptMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"

func (m metadataOnly) Post() *rest.Request {
	return m.Interface.Post().SetHeader("Accept", acceptMetadata)
}

func (m metadataOnly) Put() *rest.Request {
	return m.Interface.Put().SetHeader("Accept", acceptMetadata)
}

func (m metadataOnly) Delete() *rest.Request {
	return m.Interface.Delete().SetHeader("Accept", acceptMetadata)
}

func (m metadataOnly) Patch(t types.PatchType) *rest.Request {
	return m.Interface.Patch(t).SetHeader("Accept", acceptMetadata)
}

// read sends a request that changes nothing, and again while the error is one
// that passes. No more than Concurrency of them are under way at once.
func (c *Client) read(ctx context.Context, send func(ctx context.Context) error) error {
	stalled := 0
	again := func(err error) bool {
		if errors.Is(err, context.DeadlineExceeded) {
			stalled++
		}
		return passes(err) && !c.givesUp(stalled)
	}
	return c.explain(retry.Read(ctx, retry.Pause, again, func(ctx context.Context) error {
		err := c.send(ctx, send)
		if err == nil {
			c.known.Store(true)
		}
		return err
	}))
}

// givesUp says whether a request has come to nothing often enough.
func (c *Client) givesUp(stalled int) bool {
	return stalled >= stallsOfKnown || stalled >= stalls && !c.known.Load()
}

// send sends a request that changes nothing when there is room for one more.
func (c *Client) send(ctx context.Context, send func(ctx context.Context) error) error {
	return c.reads.Do(ctx, func(ctx context.Context) error { return retry.Attempt(ctx, send) })
}

// passes says whether a read may well succeed the next time. A webhook that is
// away stays away for longer, and may take its time to say so.
func passes(err error) bool {
	var api apierrors.APIStatus
	if errors.As(err, &api) && awayWebhook(api.Status()) {
		return false
	}
	return retry.Passes(err)
}

// awayWebhook says whether an admission webhook could not be asked. The API
// server tells so by its words alone (Kubernetes 1.36).
func awayWebhook(s metav1.Status) bool {
	return s.Code >= 500 && strings.Contains(s.Message, "failed calling webhook")
}

// unreachable says whether an error is about the whole cluster, not an object.
func unreachable(err error) bool {
	var api apierrors.APIStatus
	if errors.As(err, &api) {
		return apierrors.IsUnauthorized(err)
	}
	var netErr net.Error
	return errors.As(err, &netErr) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// pathGone says whether the server knows no such resource, not merely no such
// object: it answers with a bare page then.
func pathGone(err error) bool {
	return apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// unreachableError is an error about the whole cluster, in words. It unwraps to
// the original one.
type unreachableError struct {
	text string
	err  error
}

func (e *unreachableError) Error() string { return e.text }
func (e *unreachableError) Unwrap() error { return e.err }

// explain puts an error about the whole cluster into one clear sentence, and leaves
// every other error as it is.
func (c *Client) explain(err error) error {
	var told *unreachableError
	if err == nil || errors.As(err, &told) || !unreachable(err) || errors.Is(err, context.Canceled) {
		return err
	}
	if apierrors.IsUnauthorized(err) {
		return &unreachableError{fmt.Sprintf("the API server at %s does not accept these credentials (Unauthorized)", c.host), err}
	}
	var request *url.Error
	cause := err
	if errors.As(err, &request) {
		cause = request.Err
	}
	if errors.Is(cause, context.DeadlineExceeded) {
		return &unreachableError{fmt.Sprintf("the API server at %s does not answer in time", c.host), err}
	}
	return &unreachableError{fmt.Sprintf("can't reach the API server at %s: %v", c.host, cause), err}
}
