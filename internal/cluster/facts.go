package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-release/kubectl-release/plan"
)

// Facts are what is known of a cluster as a whole.
type Facts struct {
	// KubeVersion is the server's version, "v1.36.3".
	KubeVersion string
	// APIVersions are "apps/v1" and "apps/v1/Deployment", for every kind.
	APIVersions []string
	Cluster     plan.Cluster
}

// Facts reads the server's version, its API and its identity, side by side.
// Not being allowed to see the namespace kube-system only leaves the UID empty.
func (c *Client) Facts(ctx context.Context) (Facts, error) {
	facts := Facts{Cluster: plan.Cluster{Server: c.host}}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		facts.KubeVersion, err = c.version(ctx)
		return err
	})
	group.Go(func() error {
		if ns, err := c.core.Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{}); err == nil {
			facts.Cluster.UID = string(ns.UID)
		}
		return nil
	})
	group.Go(func() error {
		c.kinds.mu.Lock()
		defer c.kinds.mu.Unlock()
		// Templates ask .Capabilities for kinds that may have come a minute ago,
		// so what is cached on disk is not good enough here (Helm asks anew, too).
		c.kinds.discovery.Invalidate()
		c.kinds.loaded = false
		if err := c.kinds.load(); err != nil {
			return err
		}
		facts.APIVersions = slices.Clone(c.kinds.all)
		return nil
	})
	return facts, group.Wait()
}

// version asks /version, which discovery does not cache.
func (c *Client) version(ctx context.Context) (string, error) {
	raw, err := c.core.RESTClient().Get().AbsPath("/version").DoRaw(ctx)
	if err != nil {
		return "", fmt.Errorf("reach the cluster at %s: %w", c.host, err)
	}
	var info version.Info
	if err := json.Unmarshal(raw, &info); err != nil {
		return "", fmt.Errorf("read the version of %s: %w", c.host, err)
	}
	return info.GitVersion, nil
}
