package reconcile

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// NewConnector connects to the cluster of local, and to those of kubeconfigs, which may
// neither run programs nor name files nor leave out the check of certificates. Each
// Access has one connection.
func NewConnector(local *rest.Config, o cluster.Options) Connector {
	var mu sync.Mutex
	kept := map[string]*Connection{}
	return func(_ context.Context, a Access) (*Connection, error) {
		mu.Lock()
		defer mu.Unlock()
		key := a.User + "\n" + string(a.Kubeconfig)
		if c := kept[key]; c != nil {
			return c, nil
		}
		config := rest.CopyConfig(local)
		if a.Kubeconfig != nil {
			var err error
			if config, err = remote(a.Kubeconfig); err != nil {
				return nil, err
			}
			config.UserAgent = local.UserAgent
		}
		if a.User != "" {
			config.Impersonate = rest.ImpersonationConfig{UserName: a.User}
		}
		client, err := cluster.Connect(config, o)
		if err != nil {
			return nil, err
		}
		c := &Connection{Cluster: client, Records: client.CoreV1(), Locker: releasestore.NewLocker(client.CoordinationV1(), releasestore.SystemClock{})}
		kept[key] = c
		return c, nil
	}
}

// remote reads a kubeconfig that somebody else has written. Errors do not quote it.
func remote(data []byte) (*rest.Config, error) {
	parsed, err := clientcmd.Load(data)
	if err != nil {
		return nil, errors.New("the kubeconfig can't be read")
	}
	for name, user := range parsed.AuthInfos {
		if why := refused(user); why != "" {
			return nil, fmt.Errorf("the kubeconfig's user %s %s, which is refused", name, why)
		}
	}
	for name, c := range parsed.Clusters {
		switch {
		case c.InsecureSkipTLSVerify:
			return nil, fmt.Errorf("the kubeconfig's cluster %s leaves out the check of certificates, which is refused", name)
		case c.CertificateAuthority != "":
			return nil, fmt.Errorf("the kubeconfig's cluster %s names a file, which is refused", name)
		}
	}
	return clientcmd.NewDefaultClientConfig(*parsed, &clientcmd.ConfigOverrides{}).ClientConfig()
}

func refused(user *clientcmdapi.AuthInfo) string {
	switch {
	case user.Exec != nil:
		return "runs a program"
	case user.AuthProvider != nil:
		return "has an auth provider"
	case user.ClientCertificate != "", user.ClientKey != "", user.TokenFile != "":
		return "names a file"
	}
	return ""
}
