package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/templating"
)

// Facts are properties of a cluster as a whole.
type Facts struct {
	// KubeVersion is the server's version: its gitVersion, major and minor as they are, "33+" for
	// instance.
	KubeVersion templating.KubeVersion
	// APIVersions are "apps/v1" and "apps/v1/Deployment", for every kind, including those of
	// subresources. Group versions that do not answer are listed without kinds.
	APIVersions []string
	// Undiscovered says why a group version, or all of a group, did not answer.
	Undiscovered map[string]string
	Cluster      plan.Cluster
}

// Facts reads the server's version, its API and its identity, concurrently: four requests. The API
// is never taken from the cache on disk, as in Helm (4.3.1, pkg/action/action.go,
// getCapabilities): a chart that asks for an API whose CRDs have just been installed would silently
// render without what needs them. If the namespace kube-system may not be read, the UID is empty.
func (c *Client) Facts(ctx context.Context) (Facts, error) {
	facts := Facts{Cluster: plan.Cluster{Context: c.context, Server: c.host, CA: c.Authority()}}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		facts.KubeVersion, err = c.version(ctx)
		return err
	})
	group.Go(func() (err error) {
		facts.Cluster.UID, err = c.identity(ctx)
		return err
	})
	group.Go(func() error {
		known, err := c.kinds.renew(ctx)
		if err != nil {
			return c.explain(err)
		}
		facts.APIVersions, facts.Undiscovered = slices.Clone(known.all), known.undiscovered
		return nil
	})
	return facts, group.Wait()
}

// identity returns the UID of the namespace kube-system, "" if this user may not read it, or a proxy, as one between
// tenants does, keeps saying that there is no such path. All other errors are returned: to ignore them would tie the
// plan to the cluster less closely than possible.
func (c *Client) identity(ctx context.Context) (uid string, err error) {
	hidden := false
	err = c.read(ctx, func(ctx context.Context) error {
		ns, err := c.core.Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
		if err == nil {
			uid = string(ns.UID)
		}
		hidden = pathGone(err)
		return inItsPlace(err)
	})
	if hidden || apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("ask for the identity of the cluster (namespace %s): %w", metav1.NamespaceSystem, err)
	}
	return uid, nil
}

// version requests /version, which discovery does not cache. As in Helm (4.3.1,
// pkg/action/action.go, getCapabilities), a vendor's suffix stays, and makes the version a
// pre-release where it is compared.
func (c *Client) version(ctx context.Context) (templating.KubeVersion, error) {
	var raw []byte
	err := c.read(ctx, func(ctx context.Context) (err error) {
		raw, err = rawBody(c.core.RESTClient().Get().AbsPath("/version").Do(ctx))
		return inItsPlace(err)
	})
	if err != nil {
		return templating.KubeVersion{}, fmt.Errorf("ask for the version of the cluster: %w", err)
	}
	var info version.Info
	if err := json.Unmarshal(raw, &info); err != nil {
		return templating.KubeVersion{}, fmt.Errorf("read the version of %s: %w", c.host, err)
	}
	return templating.KubeVersion{Version: info.GitVersion, Major: info.Major, Minor: info.Minor}, nil
}
