package controller

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// Options are what the process is started with. Flags that helm-controller also
// has keep its names and most of its defaults. Memory is in bytes, QPS in
// requests per second.
type Options struct {
	Namespace            string
	MetricsAddress       string
	HealthAddress        string
	PprofAddress         string
	EventsAddress        string
	Concurrent           int
	Memory               int64
	DependencyInterval   time.Duration
	JitterPercentage     int
	HTTPRetry            int
	MinRetryDelay        time.Duration
	MaxRetryDelay        time.Duration
	GracefulShutdown     time.Duration
	WatchAllNamespaces   bool
	WatchSelector        string
	AutomaticShards      bool
	ConfigsSelector      string
	DefaultAccount       string
	NoCrossNamespaceRefs bool
	Compatible           bool
	ExternalArtifacts    bool
	RequireApproval      bool
	Deny                 []string
	Policies             []string
	QPS                  float32
	Burst                int
	CacheDir             string
	Leader               LeaderOptions
	Log                  LogOptions

	gates map[string]string
}

// LeaderOptions are the options of the lease that one replica holds.
type LeaderOptions struct {
	Enable          bool
	ReleaseOnCancel bool
	LeaseDuration   time.Duration
	RenewDeadline   time.Duration
	RetryPeriod     time.Duration
}

// LogOptions are the options of the log, which goes to stderr.
type LogOptions struct {
	Level    string
	Encoding string
}

func (o *Options) bind(f *pflag.FlagSet) {
	f.StringVar(&o.Namespace, "runtime-namespace", runtimeNamespace(), "namespace of the controller and its lease; by default $RUNTIME_NAMESPACE, else that of the pod")
	f.StringVar(&o.MetricsAddress, "metrics-addr", ":8080", "address of /metrics; 0 for none")
	f.StringVar(&o.HealthAddress, "health-addr", ":9440", "address of /healthz and /readyz; 0 for none")
	f.StringVar(&o.PprofAddress, "pprof-addr", "", "address of /debug/pprof; empty for none")
	f.StringVar(&o.EventsAddress, "events-addr", "", "URL of notification-controller's event receiver")
	f.IntVar(&o.Concurrent, "concurrent", 256, "maximum number of HelmReleases reconciled at a time, not counting those that wait or run a hook; --memory-budget limits their memory")
	f.Int64Var(&o.Memory, "memory-budget", 256<<20, "maximum number of bytes that all passes that load charts, render them or look for drift may take together, as estimated from the sizes of their artifacts, charts and manifests")
	f.DurationVar(&o.DependencyInterval, "requeue-dependency", 30*time.Second, "pause before dependencies and sources that are not ready are checked again; changes to them are noticed immediately")
	f.IntVar(&o.JitterPercentage, "interval-jitter-percentage", 5, "percentage of the interval by which passes are spread")
	f.IntVar(&o.HTTPRetry, "http-retry", 9, "how often a failed download of an artifact is retried")
	f.DurationVar(&o.MinRetryDelay, "min-retry-delay", 750*time.Millisecond, "first pause after an error")
	f.DurationVar(&o.MaxRetryDelay, "max-retry-delay", 15*time.Minute, "longest pause after an error")
	f.DurationVar(&o.GracefulShutdown, "graceful-shutdown-timeout", 20*time.Second, "how long work in progress may take to end")
	f.BoolVar(&o.WatchAllNamespaces, "watch-all-namespaces", true, "watch HelmReleases in all namespaces, not only in the controller's own")
	f.StringVar(&o.WatchSelector, "watch-label-selector", "", "watch only HelmReleases with these labels: a shard, with its own lease")
	f.BoolVar(&o.AutomaticShards, "automatic-shards", false, "share the HelmReleases among all replicas, each with its own lease, instead of having one active replica")
	f.StringVar(&o.ConfigsSelector, "watch-configs-label-selector", "reconcile.fluxcd.io/watch=Enabled", "labels of ConfigMaps and Secrets whose changes take effect immediately")
	f.StringVar(&o.DefaultAccount, "default-service-account", "", "ServiceAccount of HelmReleases that name none; empty for the controller's own permissions")
	f.BoolVar(&o.NoCrossNamespaceRefs, "no-cross-namespace-refs", false, "refuse sources in other namespaces")
	f.BoolVar(&o.Compatible, "compatible", false, "remove those differences from helm-controller in conditions, history, records and objects that docs/controller.md lists for this flag")
	f.BoolVar(&o.RequireApproval, "require-approval", false, "hold every install and upgrade until its plan is approved; otherwise only those annotated with "+flux.AnnotationPlan+"="+flux.RequireApproval)
	f.StringSliceVar(&o.Deny, "deny", nil, "refuse installs and upgrades whose plan has a step with these risks, such as data; see docs/policy.md")
	f.StringSliceVar(&o.Policies, "policy", nil, "refuse what these policy files deny")
	f.Float32Var(&o.QPS, "kube-api-qps", 500, "requests per second; the API server's own priority and fairness limits them earlier")
	f.IntVar(&o.Burst, "kube-api-burst", 1000, "requests that may be sent at once")
	f.StringVar(&o.CacheDir, "cache-dir", "", "folder for the cached discovery of the cluster's API; by default it is cached in memory")
	f.StringToStringVar(&o.gates, "feature-gates", nil, "ExternalArtifact=true|false; helm-controller's other gates are refused")
	f.BoolVar(&o.Leader.Enable, "enable-leader-election", true, "work only while holding helm-controller's lease; if false, no lease is taken, and a running helm-controller is not noticed")
	f.BoolVar(&o.Leader.ReleaseOnCancel, "leader-election-release-on-cancel", true, "release the lease at the end")
	f.DurationVar(&o.Leader.LeaseDuration, "leader-election-lease-duration", 35*time.Second, "how long others wait for a holder that does not renew the lease")
	f.DurationVar(&o.Leader.RenewDeadline, "leader-election-renew-deadline", 30*time.Second, "how long the holder tries to renew the lease before it ends")
	f.DurationVar(&o.Leader.RetryPeriod, "leader-election-retry-period", 5*time.Second, "pause between attempts")
	f.StringVar(&o.Log.Level, "log-level", "info", "debug, info or error; trace is debug")
	f.StringVar(&o.Log.Encoding, "log-encoding", "json", "json or console")
}

// parse reads a command line. Errors name the flag; one of them is
// pflag.ErrHelp.
func parse(args []string, usage func(string)) (Options, error) {
	var o Options
	f := pflag.NewFlagSet("kubectl-release-controller", pflag.ContinueOnError)
	f.SortFlags = false
	f.Usage = func() { usage("Usage: kubectl-release-controller [flags]\n\n" + f.FlagUsages()) }
	o.bind(f)
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("arguments are not allowed: %q", f.Args())
	}
	for gate, value := range o.gates {
		if gate != "ExternalArtifact" {
			return o, fmt.Errorf("--feature-gates: %s is not a feature gate of this controller", gate)
		}
		on, err := strconv.ParseBool(value)
		if err != nil {
			return o, fmt.Errorf("--feature-gates: %s must be true or false, not %q", gate, value)
		}
		o.ExternalArtifacts = on
	}
	switch {
	case o.Namespace == "":
		return o, fmt.Errorf("--runtime-namespace or $RUNTIME_NAMESPACE is required outside a cluster")
	case o.Concurrent < 1 || o.Memory < 1 || o.JitterPercentage < 0 || o.JitterPercentage >= 100:
		return o, fmt.Errorf("--concurrent and --memory-budget must be positive, --interval-jitter-percentage from 0 to 99")
	case o.AutomaticShards && !o.Leader.Enable:
		return o, fmt.Errorf("--automatic-shards requires --enable-leader-election")
	}
	return o, nil
}

// runtimeNamespace returns the namespace that the process runs in, or "" if it
// is not known.
func runtimeNamespace() string {
	if n := os.Getenv("RUNTIME_NAMESPACE"); n != "" {
		return n
	}
	data, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
