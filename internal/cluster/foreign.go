package cluster

import (
	"errors"
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// ForeignConfig parses a kubeconfig that another user has written, such as the content of a Secret.
// It refuses one that runs programs, names files or skips the check of certificates. Errors do not
// quote it.
func ForeignConfig(kubeconfig []byte) (*rest.Config, error) {
	parsed, err := clientcmd.Load(kubeconfig)
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
