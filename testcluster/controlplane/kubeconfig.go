package controlplane

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// kubeconfig is what a client needs: the server, the CA to trust, and its own identity.
type kubeconfig struct {
	server string
	ca     []byte
	user   string
	token  string
}

func writeKubeconfig(file string, k kubeconfig) error {
	const name = "testcluster"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: k.server, CertificateAuthorityData: k.ca}
	config.AuthInfos[k.user] = &clientcmdapi.AuthInfo{Token: k.token}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: k.user}
	config.CurrentContext = name
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		return fmt.Errorf("write kubeconfig %s: %w", file, err)
	}
	return nil
}
