package reconcile

import (
	"context"
	"reflect"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// NewConnector connects to the cluster of local, to those of kubeconfigs, which may
// neither run programs nor name files nor leave out the check of certificates, and to
// servers that take tokens of local's. Each Access has one connection, which goes when its
// holder has other credentials.
func NewConnector(local *rest.Config, o cluster.Options) Connector {
	var mu sync.Mutex
	kept := map[string]*keptConnection{}
	return func(_ context.Context, a Access) (*Connection, error) {
		mu.Lock()
		defer mu.Unlock()
		key := a.User + "\n" + a.Holder
		if c := kept[key]; c != nil && reflect.DeepEqual(c.to, a) {
			return c.Connection, nil
		}
		var err error
		config := rest.CopyConfig(local)
		switch {
		case a.Kubeconfig != nil:
			config, err = cluster.ForeignConfig(a.Kubeconfig)
		case a.Server != nil:
			config, err = a.Server.config(local)
		}
		if err != nil {
			return nil, err
		}
		config.UserAgent = local.UserAgent
		if a.User != "" {
			config.Impersonate = rest.ImpersonationConfig{UserName: a.User}
		}
		client, err := cluster.Connect(config, o)
		if err != nil {
			return nil, err
		}
		c := &Connection{Cluster: client, Records: client.CoreV1(), Locker: releasestore.NewLocker(client.CoordinationV1(), releasestore.SystemClock{})}
		kept[key] = &keptConnection{c, a}
		return c, nil
	}
}

// keptConnection is one that is used again as long as it leads to the same.
type keptConnection struct {
	*Connection
	to Access
}
