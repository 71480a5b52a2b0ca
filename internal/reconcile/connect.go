package reconcile

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// Access says which cluster a release goes to, and as whom.
type Access struct {
	// Kubeconfig is the content of spec.kubeConfig's Secret, Server what its ConfigMap names;
	// with neither, it is the cluster that the HelmReleases are in.
	Kubeconfig []byte
	Server     *Server
	// Holder is what provides these, "ConfigMap/shop/remote" or a key of a Secret, "Secret/shop/remote value";
	// "" with neither. A Secret may hold kubeconfigs of several clusters.
	Holder string
	// User is impersonated: "system:serviceaccount:apps:deployer"; "" means nobody.
	User string
}

// Connection is a cluster that releases go to.
type Connection struct {
	Cluster engine.Cluster
	Records releasestore.Client
	// Locker is shared by all passes: it has to notice that holders are gone.
	Locker *releasestore.Locker
}

// Connector returns connections, and keeps them to be used again. Errors: a kubeconfig
// that is unusable, or runs programs.
type Connector func(ctx context.Context, a Access) (*Connection, error)

// accessTo returns whose rights the pass has, and on which cluster.
func (p *pass) accessTo(ctx context.Context) (Access, error) {
	var out Access
	account := p.hr.Spec.ServiceAccountName
	if account == "" {
		account = p.r.DefaultServiceAccount
	}
	namespace := p.hr.Metadata.Namespace
	if account != "" {
		out.User = "system:serviceaccount:" + namespace + ":" + account
	}
	k := p.hr.Spec.KubeConfig
	holder := k.Holder()
	if holder == nil {
		return out, nil
	}
	out.Holder = holder.In(namespace).String()
	if k.SecretRef == nil {
		o, err := p.r.Local.Lookup(ctx, "v1", kinds.ConfigMap.Kind, namespace, k.ConfigMapRef.Name)
		if err != nil {
			return out, fmt.Errorf("could not get KubeConfig configmap '%s/%s': %w", namespace, k.ConfigMapRef.Name, err)
		}
		out.Server, err = serverOf(o, p.r.DefaultServiceAccount)
		return out, err
	}
	secret, err := p.r.Local.Lookup(ctx, "v1", kinds.Secret.Kind, namespace, k.SecretRef.Name)
	if err != nil {
		return out, fmt.Errorf("could not get KubeConfig secret '%s/%s': %w", namespace, k.SecretRef.Name, err)
	}
	keys := []string{"value", "value.yaml"}
	if k.SecretRef.Key != "" {
		keys = []string{k.SecretRef.Key}
	}
	for _, key := range keys {
		if data, ok := p.data(secret, key); ok {
			out.Kubeconfig, out.Holder = data, out.Holder+" "+key
			return out, nil
		}
	}
	return out, fmt.Errorf("KubeConfig secret '%s/%s' does not contain a '%s' key with data", namespace, k.SecretRef.Name, strings.Join(keys, "' or '"))
}
