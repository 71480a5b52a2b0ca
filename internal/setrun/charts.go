package setrun

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/dependency"
	"github.com/kubectl-release/kubectl-release/internal/flux/sourceignore"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Fetched is a chart archive that was fetched.
type Fetched struct {
	Name string
	Data []byte
	// Pin is where it came from.
	Pin *plan.ChartSource
}

// Wanted is a chart to be fetched.
type Wanted struct {
	releaseset.Chart
	// Dependency says that it is not the set that names it but a chart in the tree: what is given for
	// charts of the set, such as credentials, is not for it.
	Dependency bool
	// Secrets are what its name and URL may contain and is not to be shown.
	Secrets [][]byte
}

// Fetch fetches a chart that is not a path in the tree.
type Fetch func(ctx context.Context, which Wanted) (Fetched, error)

// charts holds the charts of one tree; each is read once.
type charts struct {
	dir   string
	tree  releaseset.Tree
	fetch Fetch
	// outside holds what users have named outside the tree.
	outside *outside

	mu     sync.Mutex
	loaded map[releaseset.Chart]func() (loaded, error)
	sums   map[releaseset.Chart]func() (summed, error)
	// fetches are the dependencies that are not in the tree.
	fetches map[releaseset.Chart]func() (Fetched, error)
	// needs are the file:// dependencies that charts wait for or have.
	needs map[releaseset.Chart][]releaseset.Chart
}

// loaded is a chart that is ready to be rendered. It is shared and must not be changed.
type loaded struct {
	chart    *chart.Chart
	warnings []chart.Warning
	pin      *plan.ChartSource
}

func newCharts(dir string, tree releaseset.Tree, named []string, fetch Fetch) *charts {
	return &charts{
		dir: dir, tree: tree, fetch: fetch, outside: newOutside(tree, named), loaded: map[releaseset.Chart]func() (loaded, error){},
		sums: map[releaseset.Chart]func() (summed, error){}, fetches: map[releaseset.Chart]func() (Fetched, error){},
		needs: map[releaseset.Chart][]releaseset.Chart{},
	}
}

// once returns what do returns, and calls it only the first time that a chart is asked for.
func once[T any](c *charts, known map[releaseset.Chart]func() (T, error), which releaseset.Chart, do func() (T, error)) (T, error) {
	c.mu.Lock()
	first, ok := known[which]
	if !ok {
		first = sync.OnceValues(do)
		known[which] = first
	}
	c.mu.Unlock()
	return first()
}

// load reads or fetches a chart. Dependencies of a folder that are not in its charts/ are read from
// where they point, or fetched; those in charts/ must match its lock. secrets are what the chart's name
// and URL may contain (see Wanted).
func (c *charts) load(ctx context.Context, which releaseset.Chart, secrets ...[]byte) (loaded, error) {
	return once(c, c.loaded, which, func() (loaded, error) {
		out, err := c.read(ctx, which, secrets)
		if err == nil {
			err = dependency.Verify(out.chart)
		}
		if err != nil {
			return loaded{}, err
		}
		return out, nil
	})
}

func (c *charts) read(ctx context.Context, which releaseset.Chart, secrets [][]byte) (loaded, error) {
	if at, err := c.outside.find(which.Name); err != nil || at != "" {
		if err != nil {
			return loaded{}, err
		}
		out, warnings, err := chartload.Load(at, chartload.Options{})
		return loaded{chart: out, warnings: warnings}, err
	}
	if which.Path == "" {
		fetched, err := c.fetch(ctx, Wanted{Chart: which, Secrets: secrets})
		if err != nil {
			return loaded{}, &fetchError{err}
		}
		archive, warnings, err := chartload.Archive(strings.NewReader(string(fetched.Data)), fetched.Name)
		return loaded{archive, warnings, fetched.Pin}, err
	}
	if err := c.there(which); err != nil {
		return loaded{}, err
	}
	out, warnings, err := chartload.Load(c.at(which.Path), reading(which))
	if err != nil {
		return loaded{}, err
	}
	return loaded{chart: out, warnings: warnings}, c.complete(ctx, which, out)
}

func (c *charts) at(name string) string { return filepath.Join(c.dir, filepath.FromSlash(name)) }

// there returns an error for paths that lead out of the tree through symlinks, and for those
// that are not part of the chart's source.
func (c *charts) there(which releaseset.Chart) error {
	info, err := releaseset.Stat(c.tree, which.Path)
	if err == nil && which.Source != nil && (which.Source.Omits(which.Path, info.Mode()) || sourceignore.ByLink(c.tree, which.Path)) {
		err = fmt.Errorf("%s: it is excluded from its source", which.Path)
	}
	if err != nil {
		return fmt.Errorf("there is no chart at %w", err)
	}
	return nil
}

// reading returns options that omit from a chart what is not part of its source.
func reading(which releaseset.Chart) chartload.Options {
	if which.Source == nil {
		return chartload.Options{}
	}
	return chartload.Options{Omits: func(name string, mode fs.FileMode) bool {
		return which.Source.Omits(path.Join(which.Path, name), mode)
	}}
}
