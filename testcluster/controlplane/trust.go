package controlplane

import (
	"fmt"
	"os"
)

// writeTrust fills the folder of the cluster with certificates, keys and the
// two kubeconfigs: one for people and tests, one for the cluster's own parts.
// Both are of group system:masters, so the parts need no roles of their own.
func writeTrust(l layout, server string) error {
	ca, err := newAuthority("testcluster")
	if err != nil {
		return err
	}
	frontProxy, err := newAuthority("testcluster-front-proxy")
	if err != nil {
		return err
	}
	caKey, err := encodeKey(ca.key)
	if err != nil {
		return fmt.Errorf("encode key of the cluster's authority: %w", err)
	}
	if err := (pair{ca.pem, caKey}).write(l.dir, "ca"); err != nil {
		return err
	}
	if err := os.WriteFile(l.file("front-proxy-ca.crt"), frontProxy.pem, 0o600); err != nil {
		return fmt.Errorf("write front proxy authority: %w", err)
	}
	if err := writeServing(l, ca); err != nil {
		return err
	}
	if err := writeClients(l, ca, frontProxy); err != nil {
		return err
	}
	return writeKubeconfigs(l, ca, server)
}

func writeServing(l layout, ca *authority) error {
	apiserver, err := ca.issueServer("kube-apiserver", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local")
	if err != nil {
		return err
	}
	if err := apiserver.write(l.dir, "apiserver"); err != nil {
		return err
	}
	kubelet, err := ca.issueServer("kubelet")
	if err != nil {
		return err
	}
	return kubelet.write(l.dir, "kubelet")
}

// writeClients stores the key that signs service account tokens too: a
// certificate is made for it because a pair is what we can make.
func writeClients(l layout, ca, frontProxy *authority) error {
	proxy, err := frontProxy.issueClient("front-proxy-client")
	if err != nil {
		return err
	}
	if err := proxy.write(l.dir, "front-proxy-client"); err != nil {
		return err
	}
	accounts, err := ca.issueClient("service-accounts")
	if err != nil {
		return err
	}
	return accounts.write(l.dir, "service-accounts")
}

func writeKubeconfigs(l layout, ca *authority, server string) error {
	users := map[string]string{
		l.file("admin.kubeconfig"):      "testcluster-admin",
		l.file("components.kubeconfig"): "testcluster-components",
	}
	for file, user := range users {
		client, err := ca.issueClient(user, "system:masters")
		if err != nil {
			return err
		}
		if err := writeKubeconfig(file, kubeconfig{server: server, ca: ca.pem, user: user, client: client}); err != nil {
			return err
		}
	}
	return nil
}
