package controller

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
)

// provide sets the functions of in that wait until there is memory for the pass: the one that loads
// its chart, and Room. The returned function gives the memory back.
func (r *reconciler) provide(key client.ObjectKey, in *reconcile.Sources) (release func()) {
	var taken func()
	in.Chart = func(ctx context.Context) (*chart.Chart, error) {
		artifact := in.Source.Status.Artifact
		if artifact == nil {
			return nil, fmt.Errorf("%s does not have an artifact", in.Source.Reference())
		}
		call(taken)
		loaded, done, err := r.load(ctx, key, artifact)
		taken = done
		return loaded, err
	}
	in.Room = func(ctx context.Context, manifest int) (err error) {
		if !r.memory.holds(key) { // else it is part of the chart's share, unless the pass has waited since
			call(taken)
			taken, err = r.memory.takeToCompare(ctx, key, manifest)
		}
		return err
	}
	return func() { call(taken) }
}

// load loads the chart of an artifact, and takes what memory a pass over it needs until done is called.
func (r *reconciler) load(ctx context.Context, key client.ObjectKey, a *flux.Artifact) (loaded *chart.Chart, done func(), err error) {
	loaded, ready, err := r.charts.of(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	defer ready()
	if done, err = r.memory.take(ctx, key, a.Digest, loaded); err != nil {
		return nil, nil, err
	}
	return loaded, done, nil
}

// call calls f, if set.
func call(f func()) {
	if f != nil {
		f()
	}
}
