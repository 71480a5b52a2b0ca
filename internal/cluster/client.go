// Package cluster talks to the API server: discovery, observation, dry runs, writes and watches.
// Only releasestore does so as well, with a client from here.
//
// It does not retry writes (package apply does), does not decide what to send and keeps no state
// of releases. Requests that only read, dry runs included, are retried a few times: see
// (*Client).read.
package cluster

import (
	"cmp"
	"fmt"
	"net/http"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	authorizationv1 "k8s.io/client-go/kubernetes/typed/authorization/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// Options tune a client.
type Options struct {
	// QPS limits the requests per second of all parts of the client together, except those for the
	// lock: renewals must not queue behind writes. 0 leaves that to the API server's own priority and
	// fairness.
	QPS float32
	// Burst is how many requests may be sent in one burst under QPS; 0 is about twice QPS, and a
	// negative one lifts the limit, as HELM_BURST_LIMIT does.
	Burst int
	// CacheDir is where discovery is cached, in kubectl's layout, see KubectlCache; "" caches in
	// memory.
	CacheDir string
	// Context is the name of the kubeconfig's context, shown to users.
	Context string
	// Warn is called with the API server's warnings, each text once, see mostSeen. nil drops them.
	Warn func(text string)
	// Waiting is called with what is being waited for, such as an API server that accepts connections and
	// does not answer, see retry.Silence. nil drops it.
	Waiting func(text string)
}

// Client is a connection to one cluster. It is safe for concurrent use.
type Client struct {
	host, context string
	// ca identifies the certificate authorities that verify host's certificate.
	ca      string
	objects rest.Interface
	dynamic dynamic.Interface
	// noManagedFields decodes responses without managedFields, metadataOnly asks for the metadata
	// only.
	noManagedFields dynamic.Interface
	metadataOnly    dynamic.Interface
	core            *corev1.CoreV1Client
	leases          *coordinationv1.CoordinationV1Client
	access          *authorizationv1.AuthorizationV1Client
	kinds           *kinds
	// reads limits the concurrent requests of read.
	reads *retry.Flow
	// known says that the server has answered a request.
	known atomic.Bool
}

// Connect returns a client; it sends nothing. All parts of the client share one connection pool.
// Errors: an invalid configuration.
func Connect(config *rest.Config, o Options) (*Client, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = -1, 0
	if o.QPS > 0 && o.Burst >= 0 {
		config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(o.QPS, cmp.Or(o.Burst, int(2*o.QPS)+1))
	}
	config.WarningHandlerWithContext = &warnings{seen: map[string]bool{}, warn: o.Warn}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	if config.ExecProvider != nil {
		transport = renewed{transport}
	}
	through := retry.NoPages
	if o.Waiting != nil {
		silence := silenceOf(config, o.Waiting)
		through = func(next http.RoundTripper) http.RoundTripper { return silence.Through(retry.NoPages(next)) }
	}
	httpClient := &http.Client{Transport: through(transport), Timeout: config.Timeout}
	discovery := rest.CopyConfig(config) // its client makes a transport of its own
	discovery.Wrap(through)
	c := &Client{host: config.Host, context: o.Context, reads: retry.NewFlow(retry.Concurrency)}
	if c.ca, err = authority(config); err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	if err := c.connect(config, httpClient); err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	if c.kinds, err = newKinds(discovery, o.CacheDir); err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	return c, nil
}

// silenceOf returns what says that the API server does not answer, or the program of the kubeconfig that is run
// for credentials before a request is sent.
func silenceOf(config *rest.Config, say func(string)) *retry.Silence {
	s := &retry.Silence{Server: "the API server at " + config.Host, Say: say}
	if config.ExecProvider != nil {
		s.Credentials = config.ExecProvider.Command + ", which gets the credentials for " + s.Server
	}
	return s
}

// connect sets up the typed and the dynamic clients.
func (c *Client) connect(config *rest.Config, httpClient *http.Client) error {
	core, err := corev1.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return err
	}
	unlimited := rest.CopyConfig(config)
	unlimited.RateLimiter = nil
	leases, err := coordinationv1.NewForConfigAndClient(unlimited, httpClient)
	if err != nil {
		return err
	}
	access, err := authorizationv1.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return err
	}
	c.core = corev1.New(noRetry{core.RESTClient()})
	c.leases = coordinationv1.New(noRetry{leases.RESTClient()})
	c.access = authorizationv1.New(noRetry{access.RESTClient()})
	whole := dynamic.ConfigFor(config)
	objects, err := objectClient(whole, httpClient)
	if err != nil {
		return err
	}
	unmanaged := rest.CopyConfig(whole)
	unmanaged.NegotiatedSerializer = withoutManagedFields{whole.NegotiatedSerializer}
	answers, err := objectClient(unmanaged, httpClient)
	if err != nil {
		return err
	}
	c.objects = noRetry{objects}
	c.dynamic = dynamic.New(c.objects)
	c.noManagedFields = dynamic.New(noRetry{answers})
	c.metadataOnly = dynamic.New(metadataOnly{noRetry{answers}})
	return nil
}

// objectClient returns a REST client for requests with full paths.
func objectClient(config *rest.Config, httpClient *http.Client) (rest.Interface, error) {
	config.GroupVersion = &schema.GroupVersion{}
	config.APIPath = "/unused" // callers give full paths
	return rest.RESTClientForConfigAndClient(config, httpClient)
}

// Authority returns what identifies the certificate authorities that verify the API server's
// certificate, as in plan.Cluster.
func (c *Client) Authority() string { return c.ca }

// CoreV1 returns the typed client for release records and logs.
func (c *Client) CoreV1() corev1.CoreV1Interface { return c.core }

// CoordinationV1 returns the typed client for the lock's Leases.
func (c *Client) CoordinationV1() coordinationv1.CoordinationV1Interface { return c.leases }
