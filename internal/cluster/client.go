// Package cluster talks to the API server: discovery, observation, dry runs,
// writes and watches. No other room does, but for releasestore, which gets its
// client from here.
//
// It does not retry, does not decide what to send and keeps no state of
// releases.
package cluster

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/disk"
	"k8s.io/client-go/dynamic"
	authorizationv1 "k8s.io/client-go/kubernetes/typed/authorization/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// Concurrency is how many read or dry-run requests are under way at once.
const Concurrency = 32

// discoveryAge is how long a cached answer of discovery counts, as in kubectl.
const discoveryAge = 6 * time.Hour

// Options tune a client.
type Options struct {
	// QPS limits requests per second; 0 leaves it to the API server's own
	// priority and fairness.
	QPS float32
	// CacheDir is where discovery is cached, in kubectl's layout; "" is
	// ~/.kube/cache.
	CacheDir string
	// Warn hears the API server's warnings, each text once. nil drops them.
	Warn func(text string)
}

// Client is a connection to one cluster. It is safe for concurrent use.
type Client struct {
	host      string
	dynamic   dynamic.Interface
	core      *corev1.CoreV1Client
	leases    *coordinationv1.CoordinationV1Client
	access    *authorizationv1.AuthorizationV1Client
	discovery discovery.CachedDiscoveryInterface
	kinds     *kinds
}

// Connect prepares a client; it sends nothing yet. All of its parts share one
// connection pool. Errors: a configuration that makes no sense.
func Connect(config *rest.Config, o Options) (*Client, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = -1, 0
	if o.QPS > 0 {
		config.QPS, config.Burst = o.QPS, int(2*o.QPS)+1
	}
	config.WarningHandler = newWarnings(o.Warn)
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	return connect(config, httpClient, o)
}

func connect(config *rest.Config, httpClient *http.Client, o Options) (*Client, error) {
	c := &Client{host: config.Host}
	var err error
	if c.dynamic, err = dynamic.NewForConfigAndClient(config, httpClient); err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	if c.core, err = corev1.NewForConfigAndClient(config, httpClient); err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	if c.leases, err = coordinationv1.NewForConfigAndClient(config, httpClient); err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	if c.access, err = authorizationv1.NewForConfigAndClient(config, httpClient); err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	root := cacheRoot(o.CacheDir)
	c.discovery, err = disk.NewCachedDiscoveryClientForConfig(config,
		filepath.Join(root, "discovery", cacheName(config.Host)), filepath.Join(root, "http"), discoveryAge)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	c.kinds = &kinds{discovery: c.discovery}
	return c, nil
}

// CoreV1 is the typed client that release records and logs go through.
func (c *Client) CoreV1() corev1.CoreV1Interface { return c.core }

// CoordinationV1 is the typed client of the lock's Leases.
func (c *Client) CoordinationV1() coordinationv1.CoordinationV1Interface { return c.leases }

// cacheRoot is kubectl's: KUBECACHEDIR, else ~/.kube/cache.
func cacheRoot(dir string) string {
	if dir != "" {
		return dir
	}
	if dir := os.Getenv("KUBECACHEDIR"); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return filepath.Join(os.TempDir(), "kubectl-release-cache")
	}
	return filepath.Join(home, ".kube", "cache")
}

var unfitForFileName = regexp.MustCompile(`[^(\w/.)]`)

// cacheName turns a server's address into a folder name the way kubectl does,
// so that both share one cache.
func cacheName(host string) string {
	host = strings.TrimPrefix(strings.TrimPrefix(host, "https://"), "http://")
	return unfitForFileName.ReplaceAllString(host, "_")
}
