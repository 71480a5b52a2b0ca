package cluster

import (
	"errors"
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// ForeignConfig parses a kubeconfig that another user has written, such as the content of a Secret.
// It rejects one that runs programs, has an auth provider, names files or skips the verification of
// certificates. Errors quote nothing but the name of the user or cluster at fault.
func ForeignConfig(kubeconfig []byte) (*rest.Config, error) {
	parsed, err := clientcmd.Load(kubeconfig)
	if err != nil {
		return nil, errors.New("the kubeconfig can't be read")
	}
	for name, user := range parsed.AuthInfos {
		if why := refused(user); why != "" {
			return nil, fmt.Errorf("the kubeconfig's user %s %s, which is not allowed", name, why)
		}
	}
	for name, c := range parsed.Clusters {
		switch {
		case c.InsecureSkipTLSVerify:
			return nil, fmt.Errorf("the kubeconfig's cluster %s skips TLS certificate verification, which is not allowed", name)
		case c.CertificateAuthority != "":
			return nil, fmt.Errorf("the kubeconfig's cluster %s names a file, which is not allowed", name)
		}
	}
	config, err := clientcmd.NewDefaultClientConfig(*parsed, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, errors.New("the kubeconfig is incomplete or invalid") // client-go quotes proxy URLs, and passwords in them
	}
	return config, nil
}

// refused returns what a user of a kubeconfig does that ForeignConfig rejects, "" for nothing.
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
