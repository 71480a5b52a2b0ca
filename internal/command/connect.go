package command

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"

	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// command returns a command of this program as a line to paste into a shell.
func (p *program) command(args ...string) string { return p.invocation.Command(args...) }

// api is the interface to a cluster that the engine and the commands use.
type api interface {
	engine.Cluster
	CoreV1() corev1.CoreV1Interface
	CoordinationV1() coordinationv1.CoordinationV1Interface
	AccessOf(ctx context.Context, who plan.Subject, needed []plan.Permission) plan.Access
	Validate(ctx context.Context, objects, crds []manifest.Object, namespace string) ([]cluster.Verdict, error)
}

// session is a connection to a cluster, with what most commands need from it.
type session struct {
	cluster   api
	store     *releasestore.Store
	engine    *engine.Engine
	namespace string
	progress  watcher
}

// namespace returns the namespace of the flags or of the kubeconfig's context, where no cluster is
// asked: a kubeconfig that is missing or can't be read has none (Helm 4.3.1, pkg/cli/environment.go,
// Namespace).
func (p *program) namespace() string {
	p.silenceClient(&p.connection)
	named, _, err := p.connection.config().ToRawKubeConfigLoader().Namespace()
	if err != nil {
		named = p.connection.namespace
	}
	return cmp.Or(named, "default")
}

// connect prepares a session with the cluster that the flags name. It sends nothing yet.
func (p *program) connect() (*session, error) { return p.connectAs(&p.connection) }

// connectAs is connect with flags other than those on the command line.
func (p *program) connectAs(o *connectionFlags) (*session, error) {
	p.silenceClient(o)
	client, namespace, err := p.dial(o)
	if err != nil {
		return nil, err
	}
	store, err := openStore(client.CoreV1())
	if err != nil {
		return nil, err
	}
	watched, clock := p.presenter.watcher(), releasestore.SystemClock{}
	return &session{
		cluster: client, store: store, namespace: namespace, progress: watched,
		engine: &engine.Engine{
			Cluster: client, Store: store,
			Invocation: p.invocation, Locker: releasestore.NewLocker(client.CoordinationV1(), clock),
			Observer: p.underway.heard(watched), Now: clock.Now, ToolVersion: toolVersion(), Identity: releasestore.NewIdentity(runText()),
		},
	}, nil
}

var errNoCluster = errors.New("no cluster is configured: name a kubeconfig with --kubeconfig or KUBECONFIG")

// dialKubeconfig reads the kubeconfig and returns a client and the namespace.
func (p *program) dialKubeconfig(o *connectionFlags) (api, string, error) {
	if o.foreign != nil {
		return p.dialForeign(o)
	}
	flags := o.config()
	namespace, _, err := flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, "", fmt.Errorf("read the kubeconfig: %w", err)
	}
	raw, err := flags.ToRawKubeConfigLoader().RawConfig()
	if err == nil && len(raw.Clusters) == 0 &&
		o.server == "" && os.Getenv("KUBERNETES_SERVICE_HOST") == "" {
		return nil, "", errNoCluster
	}
	if err == nil && o.context != "" && raw.Contexts[o.context] == nil {
		return nil, "", fmt.Errorf("read the kubeconfig: %w", clientcmd.ConfirmUsable(raw, o.context))
	}
	config, err := flags.ToRESTConfig()
	if err != nil {
		return nil, "", fmt.Errorf("read the kubeconfig: %w", err)
	}
	client, err := p.client(config, o, o.contextName(raw.CurrentContext))
	return client, namespace, err
}

// dialForeign returns a client for a cluster whose kubeconfig is not the user's own and therefore
// not trusted.
func (p *program) dialForeign(o *connectionFlags) (api, string, error) {
	config, err := cluster.ForeignConfig(o.foreign)
	if err != nil {
		return nil, "", err
	}
	config.Impersonate.UserName = o.as
	client, err := p.client(config, o, "")
	return client, "default", err
}

func (p *program) client(config *rest.Config, o *connectionFlags, context string) (api, error) {
	config.UserAgent = "kubectl-release/" + version()
	if p.transport != nil {
		config.Wrap(p.transport)
	}
	return cluster.Connect(config, cluster.Options{
		QPS: float32(o.qps), Burst: cmp.Or(o.burst, number("HELM_BURST_LIMIT", 0)), CacheDir: cmp.Or(o.cacheDir, cluster.KubectlCache()),
		Context: context, Warn: p.serverWarning, Waiting: p.waiting,
	})
}

// openStore opens the record store that HELM_DRIVER names.
func openStore(client releasestore.Client) (*releasestore.Store, error) {
	driver, clock := os.Getenv("HELM_DRIVER"), releasestore.SystemClock{}
	if driver == "sql" {
		return releasestore.OpenSQL(os.Getenv(releasestore.SQLConnection), clock)
	}
	return releasestore.Open(client, driver, clock)
}

func toolVersion() string { return "kubectl-release " + version() }

// runText describes this run to other users: user, host and process. In containers, another run
// often has the same ones.
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

// silenceClient silences client-go's own log unless the flags ask for it.
func (p *program) silenceClient(o *connectionFlags) {
	verbosity := o.verbosity()
	var w io.Writer = logWriter{to: p.streams.Err, mask: p.errorMask, open: p.showSecrets}
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
