package controller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
)

// Version is the program's version; the build sets it.
var Version = "0.0.0-dev"

// Exit codes.
const (
	exitFailure = 1
	exitUsage   = 2
)

// Main runs the controller with args, the arguments after the program's name,
// until ctx ends. It logs to out and returns the exit code: 0, 1 for a failure,
// or 2 for invalid flags.
func Main(ctx context.Context, args []string, out io.Writer) int {
	o, err := parse(args, func(text string) { fmt.Fprint(out, text) })
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(out, "kubectl-release-controller:", err)
		return exitUsage
	}
	logger, err := o.Log.logger(out)
	if err != nil {
		fmt.Fprintln(out, "kubectl-release-controller:", err)
		return exitUsage
	}
	log.SetLogger(logger)
	klog.SetLogger(logger)
	c, err := config.GetConfig()
	if err == nil {
		logger.Info("starting", "version", Version, "namespace", o.Namespace, "lease", leaseName(o.WatchSelector))
		err = Run(ctx, c, o, logger)
	}
	if err != nil {
		logger.Error(err, "stopped")
		return exitFailure
	}
	logger.Info("stopped")
	return 0
}

func (o LogOptions) logger(out io.Writer) (logr.Logger, error) {
	// helm-controller takes trace, too (fluxcd/pkg/runtime, logger); debug has all that there is.
	levels := map[string]slog.Level{"trace": slog.LevelDebug, "debug": slog.LevelDebug, "info": slog.LevelInfo, "error": slog.LevelError}
	level, ok := levels[o.Level]
	if !ok {
		return logr.Logger{}, fmt.Errorf("--log-level: %q is not one of trace, debug, info, error", o.Level)
	}
	options := &slog.HandlerOptions{Level: level}
	switch o.Encoding {
	case "json":
		return logr.FromSlogHandler(slog.NewJSONHandler(out, options)), nil
	case "console":
		return logr.FromSlogHandler(slog.NewTextHandler(out, options)), nil
	}
	return logr.Logger{}, fmt.Errorf("--log-encoding: %q is neither json nor console", o.Encoding)
}

// newPasser returns the passer of the reconciler. Its errors are those of --deny
// and --policy.
func newPasser(r *reconciler, c *rest.Config, o Options) (passer, error) {
	gate, err := newPlanGate(o)
	if err != nil {
		return nil, err
	}
	return &reconcile.Reconciler{
		Local: local{cached: r.client, live: r.live}, Connect: reconcile.NewConnector(c, cluster.Options{QPS: o.QPS, Burst: o.Burst, CacheDir: o.CacheDir}, time.Now), Now: time.Now,
		Holder: "kubectl-release-controller", ToolVersion: Version,
		NoCrossNamespaceRefs: o.NoCrossNamespaceRefs, NoExternalArtifacts: !o.ExternalArtifacts, Compatible: o.Compatible, DefaultServiceAccount: o.DefaultAccount,
		DependencyInterval: o.DependencyInterval, Gate: gate.check, MayHold: gate.mayHold,
		Rendered: func(hr *flux.HelmRelease, bytes int) {
			r.memory.learn(client.ObjectKey{Namespace: hr.Metadata.Namespace, Name: hr.Metadata.Name}, bytes)
		},
	}, nil
}
