package command

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/tools/clientcmd"
)

const connectionCategory = "Connection"

// tokenVariable is the environment variable in which Helm passes the bearer token to its plugins
// (Helm 4.3.1, pkg/cli/environment.go, EnvVars).
const tokenVariable = "HELM_KUBETOKEN"

// connectionFlags say which cluster and namespace a command works on, and how to connect to the API
// server.
type connectionFlags struct {
	namespace, kubeconfig, context, cluster, user string
	server, token, as, asUID                      string
	asGroups                                      cli.StringSlice
	authority, certificate, key, serverName       string
	insecure                                      bool
	requestTimeout, cacheDir                      string
	qps                                           float64
	burst, v                                      int
	debug                                         bool
	// foreign is a kubeconfig that replaces the user's own and is not trusted.
	foreign []byte
}

// flags returns kubectl's flags, with Helm's names as aliases where they differ. Their defaults
// come from the environment variables that Helm sets for its plugins.
func (o *connectionFlags) flags() []cli.Flag {
	text := func(name string, to *string, usage string, env []string, aliases ...string) cli.Flag {
		return &cli.StringFlag{Name: name, Destination: to, Aliases: aliases, Usage: usage, EnvVars: env, Category: connectionCategory}
	}
	return []cli.Flag{
		text("namespace", &o.namespace, "namespace of the release", []string{"HELM_NAMESPACE"}, "n"),
		text("kubeconfig", &o.kubeconfig, "`FILE` of the kubeconfig", nil),
		text("context", &o.context, "context of the kubeconfig", []string{"HELM_KUBECONTEXT"}, "kube-context"),
		text("cluster", &o.cluster, "cluster of the kubeconfig", nil),
		text("user", &o.user, "user of the kubeconfig", nil),
		text("server", &o.server, "address of the API server", []string{"HELM_KUBEAPISERVER"}, "s", "kube-apiserver"),
		text("token", &o.token, "bearer token", []string{tokenVariable}, "kube-token"),
		text("as", &o.as, "user to impersonate", []string{"HELM_KUBEASUSER"}, "kube-as-user"),
		&cli.StringSliceFlag{Name: "as-group", Destination: &o.asGroups, Aliases: []string{"kube-as-group"}, Usage: "group to impersonate (repeatable)", Category: connectionCategory},
		text("as-uid", &o.asUID, "UID to impersonate", nil),
		text("certificate-authority", &o.authority, "CA file of the API server", []string{"HELM_KUBECAFILE"}, "kube-ca-file"),
		text("client-certificate", &o.certificate, "client certificate file", nil),
		text("client-key", &o.key, "client key file", nil),
		text("tls-server-name", &o.serverName, "name to expect in the server's certificate", []string{"HELM_KUBETLS_SERVER_NAME"}, "kube-tls-server-name"),
		&cli.BoolFlag{Name: insecureAPI, Destination: &o.insecure, Aliases: []string{"insecure-skip-tls-verify"}, Usage: "do not check the API server's certificate; the short name is for commands that take no chart", EnvVars: readable("HELM_KUBEINSECURE_SKIP_TLS_VERIFY", strconv.ParseBool), Category: connectionCategory},
		text("request-timeout", &o.requestTimeout, "how long one request may take, such as 10s", nil),
		text("cache-dir", &o.cacheDir, "where discovery is cached", nil),
		&cli.Float64Flag{Name: "qps", Destination: &o.qps, Usage: "maximum requests per second, those for the lock (a renewal every 5s) not counted; 0 leaves it to the API server", EnvVars: readable("HELM_QPS", parseFloat), Category: connectionCategory},
		&cli.IntFlag{Name: "burst-limit", Destination: &o.burst, Usage: "maximum burst of requests under --qps (HELM_BURST_LIMIT); 0 is twice as many, and -1 lifts the limit", Category: connectionCategory},
		&cli.IntFlag{Name: "v", Destination: &o.v, Usage: "verbosity of the client library", Category: connectionCategory},
		&cli.BoolFlag{Name: "debug", Destination: &o.debug, Usage: "log each API request, like -v 6; template also prints what was rendered if it is invalid YAML", EnvVars: readable("HELM_DEBUG", strconv.ParseBool), Category: connectionCategory},
	}
}

// insecureAPI is the flag that skips the check of the API server's certificate.
const insecureAPI = "kube-insecure-skip-tls-verify"

// helmPlugin is set by Helm when it runs this program as a plugin.
const helmPlugin = "HELM_PLUGIN_NAME"

// words returns the flags for cluster and namespace as they are repeated in hints. It omits the
// token, and values that the next command gets from the environment anyway. Variables that Helm
// sets for a plugin do not count: Helm takes them from its own flags, such as --kubeconfig and
// --kube-as-group, which the plugin does not see (Helm 4.3.1, pkg/cmd/load_plugins.go, manuallyProcessArgs).
func (o *connectionFlags) words() []string {
	words, groups := []string{}, o.asGroups.Value()
	if os.Getenv(helmPlugin) != "" {
		groups = o.impersonated()
		// The flag takes one file; a list can only be the user's own variable, which the next command has as well.
		if file := os.Getenv(clientcmd.RecommendedConfigPathEnvVar); o.kubeconfig == "" && file != "" && !strings.ContainsRune(file, os.PathListSeparator) {
			words = append(words, "--kubeconfig", file)
		}
	}
	for _, flag := range o.flags() {
		text, isText := flag.(*cli.StringFlag)
		if !isText || slices.Contains([]string{"token", "request-timeout", "cache-dir"}, text.Name) {
			continue
		}
		value := *text.Destination
		inherited := slices.ContainsFunc(text.EnvVars, func(v string) bool { return os.Getenv(v) == value })
		if value != "" && (!inherited || os.Getenv(helmPlugin) != "") {
			words = append(words, "--"+text.Name, value)
		}
	}
	for _, group := range groups {
		words = append(words, "--as-group", group)
	}
	if o.insecure {
		words = append(words, "--"+insecureAPI)
	}
	return words
}

// config translates the flags into those of cli-runtime, which reads the kubeconfig as kubectl
// does.
func (o *connectionFlags) config() *genericclioptions.ConfigFlags {
	f := genericclioptions.NewConfigFlags(true)
	set := func(field **string, value string) {
		if value != "" {
			*field = &value
		}
	}
	set(&f.Namespace, o.namespace)
	set(&f.KubeConfig, o.kubeconfig)
	set(&f.Context, o.context)
	set(&f.ClusterName, o.cluster)
	set(&f.AuthInfoName, o.user)
	set(&f.APIServer, o.server)
	set(&f.BearerToken, o.token)
	set(&f.Impersonate, o.as)
	set(&f.ImpersonateUID, o.asUID)
	set(&f.CAFile, o.authority)
	set(&f.CertFile, o.certificate)
	set(&f.KeyFile, o.key)
	set(&f.TLSServerName, o.serverName)
	set(&f.Timeout, o.requestTimeout)
	set(&f.CacheDir, o.cacheDir)
	if groups := o.impersonated(); len(groups) > 0 {
		f.ImpersonateGroup = &groups
	}
	if insecure := o.insecure; insecure {
		f.Insecure = &insecure
	}
	return f
}

// impersonated returns the groups to impersonate. Helm passes them to plugins separated by commas.
func (o *connectionFlags) impersonated() []string {
	if groups := o.asGroups.Value(); len(groups) > 0 {
		return groups
	}
	return strings.FieldsFunc(os.Getenv("HELM_KUBEASGROUPS"), func(r rune) bool { return r == ',' })
}

// contextName returns the context by which the user knows the cluster. It is empty if flags name a
// server or a cluster, which may not be that of the context.
func (o *connectionFlags) contextName(current string) string {
	if o.server != "" || o.cluster != "" {
		return ""
	}
	return cmp.Or(o.context, current)
}

// debugVerbosity is the verbosity of --debug: client-go logs a line for each request.
const debugVerbosity = 6

// verbosity returns the log level of client-go.
func (o *connectionFlags) verbosity() int {
	if o.v > 0 || !o.debug {
		return o.v
	}
	return debugVerbosity
}
