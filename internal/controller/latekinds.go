package controller

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/retry"
)

// lateKinds watches kinds of sources that the cluster did not have when the process started, as soon
// as it has them: source-controller may be installed later.
type lateKinds struct {
	mapper meta.RESTMapper
	// watch starts the watch of a kind, whose existing objects then count as new.
	watch   func(kind string) error
	missing []string
	pause   time.Duration
	log     logr.Logger
}

// latePause is how long it takes until a new kind is noticed: as long as HelmReleases wait for a
// source.
const latePause = 30 * time.Second

// add starts the watch of a kind, now or once the cluster has it. Errors are those of the watch, and
// of an API server that can't be asked.
func (l *lateKinds) add(kind string) error {
	has, err := l.has(kind)
	switch {
	case err != nil:
		return err
	case !has:
		l.log.Info("the cluster does not have this kind: HelmReleases that refer to it will wait", "kind", kind)
		l.missing = append(l.missing, kind)
		return nil
	}
	return l.watch(kind)
}

func (l *lateKinds) has(kind string) (bool, error) {
	_, err := l.mapper.RESTMapping(schema.GroupKind{Group: sourceVersion.Group, Kind: kind}, sourceVersion.Version)
	if meta.IsNoMatchError(err) {
		return false, nil
	}
	return err == nil, err
}

// Start looks for the missing kinds until it has found all of them, or ctx ends. If the API server
// does not answer, it looks again. Errors are those of the watch.
func (l *lateKinds) Start(ctx context.Context) error {
	for len(l.missing) > 0 && retry.Pause(ctx, l.pause) == nil {
		missing := l.missing
		l.missing = nil
		for _, kind := range missing {
			if has, err := l.has(kind); !has || err != nil {
				l.missing = append(l.missing, kind)
				continue
			}
			l.log.Info("the cluster has this kind now", "kind", kind)
			if err := l.watch(kind); err != nil {
				return err
			}
		}
	}
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: replicas that share the HelmReleases
// all watch.
func (l *lateKinds) NeedLeaderElection() bool { return false }
