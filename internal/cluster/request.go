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

// stalls is how many attempts of a read may time out before it is given up, for a server that has not
// answered any request yet; for one that has, they are retry.Stalls.
const stalls = 2

// noRetry is a REST client that sends every request once. client-go's own client retries a request
// up to ten times when the response has Retry-After (client-go, rest/request.go, maxRetries), writes
// included, and callers that count attempts can't interrupt it. Retries are up to our callers, see
// docs/retries.md.
type noRetry struct{ rest.Interface }

func (o noRetry) Verb(verb string) *rest.Request { return o.Interface.Verb(verb).MaxRetries(0) }
func (o noRetry) Post() *rest.Request            { return o.Interface.Post().MaxRetries(0) }
func (o noRetry) Put() *rest.Request             { return o.Interface.Put().MaxRetries(0) }
func (o noRetry) Get() *rest.Request             { return o.Interface.Get().MaxRetries(0) }
func (o noRetry) Delete() *rest.Request          { return o.Interface.Delete().MaxRetries(0) }
func (o noRetry) Patch(t types.PatchType) *rest.Request {
	return o.Interface.Patch(t).MaxRetries(0)
}

// validated is a REST client that takes no response from the cache of HTTP responses before the server has confirmed
// that it is unchanged, whatever age the response allowed when it was stored.
type validated struct{ rest.Interface }

func (v validated) Get() *rest.Request {
	return v.Interface.Get().SetHeader("Cache-Control", "max-age=0")
}

// metadataOnly is a REST client that asks for the metadata of objects only, to save time and
// memory. A server that does not support that sends the whole object.
type metadataOnly struct{ rest.Interface }

// acceptMetadata asks for the metadata of an object only, see
// https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches.
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

// read sends a request that changes nothing, and retries it after transient errors. At most
// retry.Concurrency of them are under way at the same time.
func (c *Client) read(ctx context.Context, send func(ctx context.Context) error) error {
	again := func(err error, stalled int) bool { return passes(err) && !c.givesUp(stalled) }
	return c.explain(retry.Read(ctx, retry.Pause, again, func(ctx context.Context) error {
		err := c.send(ctx, send)
		if err == nil {
			c.known.Store(true)
		}
		return err
	}))
}

// rawBody returns the body of an answer. Result.Raw and Request.DoRaw do not decode the Status in a refusal: their
// error is "unknown" (client-go 0.36, rest/request.go, Result.Error and newUnstructuredResponseError).
func rawBody(answer rest.Result) ([]byte, error) {
	if err := answer.Error(); err != nil {
		return nil, err
	}
	return answer.Raw()
}

// givesUp reports whether a read has timed out often enough.
func (c *Client) givesUp(stalled int) bool {
	return stalled >= retry.Stalls || stalled >= stalls && !c.known.Load()
}

// send sends a request that changes nothing once fewer than the limit are under way.
func (c *Client) send(ctx context.Context, send func(ctx context.Context) error) error {
	return c.reads.Do(ctx, func(ctx context.Context) error { return retry.Attempt(ctx, send) })
}

// passes reports whether a retry of a read may succeed. A webhook that can't be reached usually
// stays so for longer, and every attempt may take until its timeout.
func passes(err error) bool {
	var api apierrors.APIStatus
	if errors.As(err, &api) && awayWebhook(api.Status()) {
		return false
	}
	return retry.Passes(err) && !pathGone(err) // what that means, discovery knows
}

// awayWebhook reports whether an admission webhook could not be called. Only the message says so
// (Kubernetes 1.36, staging/src/k8s.io/apiserver/pkg/util/webhook/error.go, ErrCallingWebhook).
func awayWebhook(s metav1.Status) bool {
	return s.Code >= 500 && strings.Contains(s.Message, "failed calling webhook")
}

// unreachable reports whether an error concerns the whole cluster, not just an object.
func unreachable(err error) bool {
	var api apierrors.APIStatus
	if errors.As(err, &api) {
		return apierrors.IsUnauthorized(err)
	}
	var netErr net.Error
	return errors.As(err, &netErr) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// pathGone reports whether the server does not know the resource at all. For a missing object it
// sends a Status, for a missing resource plain text, as a proxy does that does not know the server.
func pathGone(err error) bool { return apierrors.IsNotFound(err) && !retry.Missing(err) }

// unreachableError is an error about the whole cluster with a readable text. It unwraps to the
// original error.
type unreachableError struct {
	text string
	err  error
}

func (e *unreachableError) Error() string { return e.text }
func (e *unreachableError) Unwrap() error { return e.err }

// explain turns an error about the whole cluster into a clear sentence, and returns other errors
// unchanged.
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
		return &unreachableError{fmt.Sprintf("the API server at %s did not answer in time", c.host), err}
	}
	return &unreachableError{fmt.Sprintf("can't reach the API server at %s: %v", c.host, cause), err}
}
