package controlplane

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"
)

// tokenFile lists the users of the kubeconfigs: token, name, uid, groups.
const tokenFile = "tokens.csv"

// writeTrust fills the folder of the cluster with certificates, keys and three
// kubeconfigs: for people and tests, for the cluster's own parts, and for kwok. All
// their users are in the group system:masters, so the parts need no roles.
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

// writeClients also stores the key that signs service account tokens. It has a
// certificate only because keys are made in pairs with one.
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

// KubeletUser is the user name of kwok at the API server.
const KubeletUser = "testcluster-kubelet"

// writeKubeconfigs gives the users tokens, since a client certificate is verified again for each
// request, which was a fourteenth of the API server's work in tests.
func writeKubeconfigs(l layout, ca *authority, server string) error {
	users := map[string]string{
		l.file("admin.kubeconfig"):      "testcluster-admin",
		l.file("components.kubeconfig"): "testcluster-components",
		l.file("kubelet.kubeconfig"):    KubeletUser,
	}
	var tokens strings.Builder
	for file, user := range users {
		token := rand.Text()
		fmt.Fprintf(&tokens, "%s,%s,%s,system:masters\n", token, user, user)
		if err := writeKubeconfig(file, kubeconfig{server: server, ca: ca.pem, user: user, token: token}); err != nil {
			return err
		}
	}
	if err := os.WriteFile(l.file(tokenFile), []byte(tokens.String()), 0o600); err != nil {
		return fmt.Errorf("write tokens: %w", err)
	}
	return nil
}
