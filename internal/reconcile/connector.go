package reconcile

import (
	"context"
	"maps"
	"reflect"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// idle is how long a connection that nobody uses is kept: passes in sync, which need none, are
// at most that far apart in most places, and a token or an account that is gone is not kept for
// ever.
const idle = time.Hour

// NewConnector connects to the cluster of local, to those of kubeconfigs, which may not
// run programs, name files or skip certificate checks, and to servers that accept tokens
// issued by local. Each Access has one connection, which is dropped when its holder has
// other credentials, or when nobody has used it for an hour.
func NewConnector(local *rest.Config, o cluster.Options, now func() time.Time) Connector {
	var mu sync.Mutex
	kept := map[string]*keptConnection{}
	return func(_ context.Context, a Access) (*Connection, error) {
		mu.Lock()
		defer mu.Unlock()
		at := now()
		maps.DeleteFunc(kept, func(_ string, c *keptConnection) bool { return at.Sub(c.used) > idle })
		key := a.User + "\n" + a.Holder
		if c := kept[key]; c != nil && reflect.DeepEqual(c.to, a) {
			c.used = at
			return c.Connection, nil
		}
		client, err := connected(local, a, o)
		if err != nil {
			return nil, err
		}
		c := &Connection{Cluster: client, Records: client.CoreV1(), Locker: releasestore.NewLocker(client.CoordinationV1(), releasestore.SystemClock{})}
		kept[key] = &keptConnection{c, a, at}
		return c, nil
	}
}

// connected returns a client with the access. Only what the local cluster says about its API is cached on disk: a
// server that somebody else names could pass itself off there as another one.
func connected(local *rest.Config, a Access, o cluster.Options) (_ *cluster.Client, err error) {
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
	if a.Kubeconfig != nil || a.Server != nil {
		o.CacheDir = ""
	}
	config.UserAgent = local.UserAgent
	if a.User != "" {
		config.Impersonate = rest.ImpersonationConfig{UserName: a.User}
	}
	return cluster.Connect(config, o)
}

// keptConnection is a connection that is used again as long as its Access is the same.
type keptConnection struct {
	*Connection
	to   Access
	used time.Time
}
