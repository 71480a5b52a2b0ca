package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/klog/v2"

	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

const connectionCategory = "Connection"

// tokenVariable is where Helm puts the bearer token for its plugins.
const tokenVariable = "HELM_KUBETOKEN"

// connectionFlags are kubectl's, with Helm's names where these differ, and the
// environment that Helm gives its plugins.
func connectionFlags() []cli.Flag {
	text := func(name, usage string, env []string, aliases ...string) cli.Flag {
		return &cli.StringFlag{Name: name, Aliases: aliases, Usage: usage, EnvVars: env, Category: connectionCategory}
	}
	return []cli.Flag{
		text("namespace", "namespace of the release", []string{"HELM_NAMESPACE"}, "n"),
		text("kubeconfig", "path of the kubeconfig", nil),
		text("context", "context of the kubeconfig", []string{"HELM_KUBECONTEXT"}, "kube-context"),
		text("cluster", "cluster of the kubeconfig", nil),
		text("user", "user of the kubeconfig", nil),
		text("server", "address of the API server", []string{"HELM_KUBEAPISERVER"}, "s", "kube-apiserver"),
		text("token", "bearer token", []string{tokenVariable}, "kube-token"),
		text("as", "user to impersonate", []string{"HELM_KUBEASUSER"}, "kube-as-user"),
		&cli.StringSliceFlag{Name: "as-group", Aliases: []string{"kube-as-group"}, Usage: "group to impersonate (repeatable)", Category: connectionCategory},
		text("as-uid", "UID to impersonate", nil),
		text("certificate-authority", "CA file of the API server", []string{"HELM_KUBECAFILE"}, "kube-ca-file"),
		text("client-certificate", "client certificate file", nil),
		text("client-key", "client key file", nil),
		text("tls-server-name", "name to expect in the server's certificate", []string{"HELM_KUBETLS_SERVER_NAME"}, "kube-tls-server-name"),
		&cli.BoolFlag{Name: insecureAPI, Aliases: []string{"insecure-skip-tls-verify"}, Usage: "do not check the API server's certificate; the short name is for commands that take no chart", EnvVars: []string{"HELM_KUBEINSECURE_SKIP_TLS_VERIFY"}, Category: connectionCategory},
		text("request-timeout", "how long one request may take, such as 10s", nil),
		text("cache-dir", "where discovery is cached", nil),
		&cli.Float64Flag{Name: "qps", Usage: "most requests a second; 0 leaves it to the API server", EnvVars: []string{"HELM_QPS"}, Category: connectionCategory},
		&cli.IntFlag{Name: "v", Usage: "verbosity of the client library", Category: connectionCategory},
		&cli.BoolFlag{Name: "debug", Usage: "tell the requests that are made: -v 6 by its name in Helm", EnvVars: []string{"HELM_DEBUG"}, Category: connectionCategory},
	}
}

// insecureAPI is the flag that leaves the API server's certificate unchecked.
const insecureAPI = "kube-insecure-skip-tls-verify"

// connectionOf are the flags that say which cluster and namespace a command is for,
// as they are repeated in hints. A token is not, nor what the environment tells the
// next command as well; that of Helm's plugins is Helm's, made from its flags.
func connectionOf(c *cli.Context) []string {
	var flags []string
	for _, flag := range connectionFlags() {
		name := flag.Names()[0]
		text, isText := flag.(*cli.StringFlag)
		if !isText || name == "token" || name == "request-timeout" || name == "cache-dir" {
			continue
		}
		inherited := slices.ContainsFunc(text.EnvVars, func(v string) bool { return os.Getenv(v) == c.String(name) })
		if c.String(name) != "" && (!inherited || os.Getenv(helmPlugin) != "") {
			flags = append(flags, "--"+name, c.String(name))
		}
	}
	for _, group := range c.StringSlice("as-group") {
		flags = append(flags, "--as-group", group)
	}
	if c.Bool(insecureAPI) {
		flags = append(flags, "--"+insecureAPI)
	}
	return flags
}

// helmPlugin is set by Helm where it runs us as its plugin.
const helmPlugin = "HELM_PLUGIN_NAME"

// command is a command of ours as a line to paste.
func (p *program) command(args ...string) string { return p.invocation.Command(args...) }

// configFlags translates our flags into those of cli-runtime, which reads the
// kubeconfig as kubectl does.
func configFlags(c *cli.Context) *genericclioptions.ConfigFlags {
	f := genericclioptions.NewConfigFlags(true)
	set := func(field **string, name string) {
		if v := c.String(name); v != "" {
			*field = &v
		}
	}
	set(&f.Namespace, "namespace")
	set(&f.KubeConfig, "kubeconfig")
	set(&f.Context, "context")
	set(&f.ClusterName, "cluster")
	set(&f.AuthInfoName, "user")
	set(&f.APIServer, "server")
	set(&f.BearerToken, "token")
	set(&f.Impersonate, "as")
	set(&f.ImpersonateUID, "as-uid")
	set(&f.CAFile, "certificate-authority")
	set(&f.CertFile, "client-certificate")
	set(&f.KeyFile, "client-key")
	set(&f.TLSServerName, "tls-server-name")
	set(&f.Timeout, "request-timeout")
	set(&f.CacheDir, "cache-dir")
	if groups := impersonated(c); len(groups) > 0 {
		f.ImpersonateGroup = &groups
	}
	if insecure := c.Bool(insecureAPI); insecure {
		f.Insecure = &insecure
	}
	return f
}

// impersonated are the groups to impersonate; Helm hands them to its plugins
// separated by commas.
func impersonated(c *cli.Context) []string {
	if groups := c.StringSlice("as-group"); len(groups) > 0 {
		return groups
	}
	return strings.FieldsFunc(os.Getenv("HELM_KUBEASGROUPS"), func(r rune) bool { return r == ',' })
}

// session is a connection with what most commands need of it.
type session struct {
	cluster   *cluster.Client
	store     *releasestore.Store
	engine    *engine.Engine
	namespace string
	progress  watcher
}

// debugVerbosity is that of --debug: a line for each request.
const debugVerbosity = 6

func verbosity(c *cli.Context) int {
	if v := c.Int("v"); v > 0 || !c.Bool("debug") {
		return v
	}
	return debugVerbosity
}

// connect reads the kubeconfig and prepares clients; nothing is sent yet.
func (p *program) connect(c *cli.Context) (*session, error) {
	silenceClient(verbosity(c), logWriter{to: p.streams.Err, mask: &p.mask, open: c.Bool("show-secrets")})
	flags := configFlags(c)
	namespace, _, err := flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	raw, err := flags.ToRawKubeConfigLoader().RawConfig()
	if err == nil && len(raw.Clusters) == 0 &&
		c.String("server") == "" && os.Getenv("KUBERNETES_SERVICE_HOST") == "" {
		return nil, errors.New("no cluster is configured: name a kubeconfig with --kubeconfig or KUBECONFIG")
	}
	config, err := flags.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.UserAgent = "kubectl-release/" + Version
	client, err := cluster.Connect(config, cluster.Options{
		QPS: float32(c.Float64("qps")), CacheDir: c.String("cache-dir"),
		Context: contextOf(c, raw.CurrentContext), Warn: p.serverWarning,
	})
	if err != nil {
		return nil, err
	}
	store, err := openStore(client.CoreV1())
	if err != nil {
		return nil, err
	}
	watched, clock := p.watcher(), releasestore.SystemClock{}
	return &session{
		cluster: client, store: store, namespace: namespace, progress: watched,
		engine: &engine.Engine{
			Cluster: client, Store: store,
			Invocation: p.invocation, Locker: releasestore.NewLocker(client.CoordinationV1(), clock),
			Observer: p.underway.heard(watched), Now: clock.Now, ToolVersion: toolVersion(), Identity: releasestore.NewIdentity(runText()),
		},
	}, nil
}

// contextOf is the context by whose name people know the cluster. One whose cluster is
// overruled by flags says nothing of it.
func contextOf(c *cli.Context, current string) string {
	if c.String("server") != "" || c.String("cluster") != "" {
		return ""
	}
	return orDefault(c.String("context"), current)
}

// watcher prints what a run does: for people, or for machines.
func (p *program) watcher() watcher {
	if p.stream != nil {
		return p.stream
	}
	return p.progress()
}

// openStore opens the store that HELM_DRIVER names.
func openStore(client releasestore.Client) (*releasestore.Store, error) {
	driver, clock := os.Getenv("HELM_DRIVER"), releasestore.SystemClock{}
	if driver == "sql" {
		return releasestore.OpenSQL(os.Getenv(releasestore.SQLConnection), clock)
	}
	return releasestore.Open(client, driver, clock)
}

func toolVersion() string { return "kubectl-release " + Version }

// runText tells people whose run this is: user, host and process. In containers these
// are often those of another run, too.
func runText() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	user := os.Getenv("USER")
	if user == "" {
		user = "somebody"
	}
	return fmt.Sprintf("%s on %s, process %d", user, host, os.Getpid())
}

// silenceClient keeps client-go's own log quiet unless -v asks for it.
func silenceClient(verbosity int, w io.Writer) {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	_ = flags.Set("logtostderr", "false")
	_ = flags.Set("stderrthreshold", "FATAL")
	_ = flags.Set("v", strconv.Itoa(verbosity))
	if verbosity == 0 {
		w = io.Discard
	}
	klog.SetOutput(w)
}
