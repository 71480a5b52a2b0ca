package reconcile

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// Server is the API server of another cluster that trusts this one's token issuer: what a
// ConfigMap of spec.kubeConfig with the provider "generic" names (fluxcd/pkg auth/generic).
type Server struct {
	// Address is "https://host:port".
	Address string
	// Authority is the CA that its certificate is checked with, in PEM; "" means the system's roots.
	Authority string
	// Audiences are those of the tokens.
	Audiences []string
	// Namespace and Account are the ServiceAccount whose tokens these are; "" as Account
	// means the controller's own.
	Namespace, Account string
}

// serverOf reads the ConfigMap. account is the ServiceAccount where it names none; ""
// means the controller's own, whose tokens are issued for the address alone: otherwise
// whoever may write a ConfigMap could be sent one that this cluster accepts.
func serverOf(o *unstructured.Unstructured, account string) (*Server, error) {
	refuse := func(format string, args ...any) (*Server, error) {
		return nil, fmt.Errorf("KubeConfig configmap '%s/%s': "+format, append([]any{o.GetNamespace(), o.GetName()}, args...)...)
	}
	data, _, err := unstructured.NestedStringMap(o.Object, "data")
	if err != nil {
		return refuse("%w", err)
	}
	if provider := data["provider"]; provider != "generic" {
		return refuse("the provider '%s' is not supported, only 'generic' is", provider)
	}
	address, err := canonical(data["address"])
	if err != nil {
		return refuse("address: %w", err)
	}
	out := &Server{Address: address, Authority: data["ca.crt"], Namespace: o.GetNamespace(), Account: account}
	if named := data["serviceAccountName"]; named != "" {
		out.Account = named
	}
	for line := range strings.Lines(data["audiences"]) {
		if line = strings.TrimSpace(line); line != "" {
			out.Audiences = append(out.Audiences, line)
		}
	}
	switch {
	case len(out.Audiences) == 0:
		out.Audiences = []string{data["address"]}
	case out.Account == "":
		return refuse("audiences require a serviceAccountName: the controller's own tokens are for the address only")
	}
	return out, nil
}

// canonical returns the address of an API server as "https://host:port".
func canonical(address string) (string, error) {
	if address == "" {
		return "", fmt.Errorf("it is required")
	}
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return "", err
	case u.Scheme != "https" || u.Hostname() == "":
		return "", fmt.Errorf("'%s' is not an https address", address)
	case u.Port() == "":
		u.Host += ":443"
	}
	return "https://" + strings.ToLower(u.Host), nil
}

// config returns the configuration of connections to the server, with tokens that local issues.
func (s *Server) config(local *rest.Config) (*rest.Config, error) {
	client, err := kubernetes.NewForConfig(local)
	if err != nil {
		return nil, err
	}
	out := &rest.Config{Host: s.Address, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(s.Authority)}}
	out.Wrap(transport.ResettableTokenSourceWrapTransport(transport.NewCachedTokenSource(tokens{s, client})))
	return out, nil
}

// beforehand is how long before its expiry a token is replaced. None lives shorter than
// ten minutes (TokenRequest).
const beforehand = time.Minute

// tokens issues tokens of the server's ServiceAccount.
type tokens struct {
	server *Server
	client kubernetes.Interface
}

// Token implements oauth2.TokenSource.
func (t tokens) Token() (*oauth2.Token, error) {
	ctx, cancel := context.WithTimeout(context.Background(), retry.Timeout)
	defer cancel()
	namespace, account, err := t.account(ctx)
	if err != nil {
		return nil, err
	}
	asked := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: t.server.Audiences}}
	got, err := t.client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, asked, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("create a token of ServiceAccount %s/%s: %w", namespace, account, err)
	}
	return &oauth2.Token{AccessToken: got.Status.Token, Expiry: got.Status.ExpirationTimestamp.Add(-beforehand)}, nil
}

// account returns the ServiceAccount, the controller's own where none is named.
func (t tokens) account(ctx context.Context) (namespace, name string, err error) {
	if t.server.Account != "" {
		return t.server.Namespace, t.server.Account, nil
	}
	self, err := t.client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return "", "", fmt.Errorf("ask who the controller is: %w", err)
	}
	user := self.Status.UserInfo.Username
	parts := strings.Split(user, ":")
	if len(parts) != 4 || parts[0] != "system" || parts[1] != "serviceaccount" {
		return "", "", fmt.Errorf("the controller is %s, which is not a ServiceAccount: name one in the ConfigMap of spec.kubeConfig", user)
	}
	return parts[2], parts[3], nil
}
