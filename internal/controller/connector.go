package controller

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// connector keeps a connection for each cluster and user, so that the releases share
// what was discovered of a cluster, its sockets, and who was seen holding a lock.
type connector struct {
	config  *rest.Config
	options Options

	mu   sync.Mutex
	open map[target]*reconcile.Connection
}

// target tells connections apart.
type target struct {
	kubeconfig [sha256.Size]byte
	user       string
}

// maxConnections is how many are kept before all are made anew.
const maxConnections = 500

func (c *connector) connect(_ context.Context, a reconcile.Access) (*reconcile.Connection, error) {
	to := target{user: a.User}
	if a.Kubeconfig != nil {
		to.kubeconfig = sha256.Sum256(a.Kubeconfig)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if have := c.open[to]; have != nil {
		return have, nil
	}
	config := rest.CopyConfig(c.config)
	if a.Kubeconfig != nil {
		remote, err := c.options.kubeConfig(a.Kubeconfig)
		if err != nil {
			return nil, err
		}
		remote.UserAgent = config.UserAgent
		config = remote
	}
	if a.User != "" {
		config.Impersonate = rest.ImpersonationConfig{UserName: a.User}
	}
	api, err := cluster.Connect(config, cluster.Options{QPS: c.config.QPS, Burst: c.config.Burst, CacheDir: c.options.CacheDir})
	if err != nil {
		return nil, err
	}
	if c.open == nil || len(c.open) >= maxConnections {
		c.open = map[target]*reconcile.Connection{}
	}
	made := &reconcile.Connection{
		Cluster: api, Records: api.CoreV1(), Locker: releasestore.NewLocker(api.CoordinationV1(), releasestore.SystemClock{}),
	}
	c.open[to] = made
	return made, nil
}

// kubeConfig makes a configuration of a kubeconfig. It runs no program and reads no
// file of the controller's, and checks certificates, unless the options allow it.
func (o Options) kubeConfig(data []byte) (*rest.Config, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(data)
	switch {
	case err != nil:
		return nil, errors.New("it can't be read") // parsers quote what they read
	case config.ExecProvider != nil && !o.KubeConfigExec:
		return nil, errors.New("it runs a program for its credentials, which is refused: --insecure-kubeconfig-exec allows it")
	case config.AuthProvider != nil:
		return nil, errors.New("it has an auth-provider, which is refused")
	case config.Insecure && !o.KubeConfigTLS:
		return nil, errors.New("it does not check the server's certificate, which is refused: --insecure-kubeconfig-tls allows it")
	case config.BearerTokenFile != "" || config.CertFile != "" || config.KeyFile != "" || config.CAFile != "":
		return nil, errors.New("it names files, which are refused: put their content into it")
	}
	return config, nil
}

// local reads for passes: HelmReleases out of the cache, where they are watched,
// everything else from the API server.
type local struct {
	cached client.Reader
	live   client.Reader
}

// Lookup implements reconcile.Reader.
func (l local) Lookup(ctx context.Context, apiVersion, kind, namespace, name string) (*unstructured.Unstructured, error) {
	key := client.ObjectKey{Namespace: namespace, Name: name}
	if kind == flux.KindHelmRelease {
		o := &helmRelease{}
		err := l.cached.Get(ctx, key, o)
		if err == nil {
			o.SetGroupVersionKind(helmVersion.WithKind(kind))
			content, err := o.content()
			return &unstructured.Unstructured{Object: content}, err
		}
		if !apierrors.IsNotFound(err) {
			return nil, err
		}
	}
	out := &unstructured.Unstructured{}
	out.SetAPIVersion(apiVersion)
	out.SetKind(kind)
	return out, l.live.Get(ctx, key, out)
}
