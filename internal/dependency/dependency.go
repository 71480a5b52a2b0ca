// Package dependency puts the charts that a chart depends on into its charts/ folder and writes
// Chart.lock: that of Helm 4.3.1, plus the digest of each archive, so an archive that is published
// again under the same version is refused.
//
// Package resolve determines versions and URLs, and package source fetches. A folder's content
// changes as a whole or not at all, where the file system can do that.
package dependency

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/outputfile"
	"github.com/kubectl-release/kubectl-release/internal/source"
)

// Options says how dependencies are fetched and written.
type Options struct {
	Sources *source.Sources
	Load    chartload.Options
	// SkipRefresh uses the cached indexes of configured repositories without refreshing them.
	SkipRefresh bool
	// Recursive also handles the dependencies of dependencies that are folders, before the chart
	// itself.
	Recursive bool
	// Check writes nothing and only reports what would change.
	Check bool
	// Now is the time for a new lock.
	Now time.Time
}

// Outcome is the result for the dependencies of one chart.
type Outcome struct {
	// Chart is the chart's folder.
	Chart        string   `json:"chart"`
	Dependencies []Result `json:"dependencies"`
	// Removed are files in charts/ that no longer belong to a dependency.
	Removed []string `json:"removed,omitempty"`
	// LockChanged says that there is a new lock, Changed that the lock or charts/ changes.
	LockChanged bool            `json:"lockChanged"`
	Changed     bool            `json:"changed"`
	Warnings    []chart.Warning `json:"-"`
}

// Result is the result for one dependency.
type Result struct {
	Name       string `json:"name"`
	Version    string `json:"version"`
	Repository string `json:"repository"`
	Digest     string `json:"digest,omitempty"`
	// File is the archive's name in charts/, "" for a dependency without a repository.
	File string `json:"file,omitempty"`
	// New says that the archive was not in charts/ before, Origin where it comes from.
	New    bool   `json:"new"`
	Origin string `json:"origin,omitempty"`
}

// Update chooses the newest versions that Chart.yaml allows, fetches what is missing, and writes
// charts/ and the lock. A chart without dependencies is left alone. The outcomes are in the order
// in which the charts were handled. It returns a *source.DigestError if a version does not have the
// digest that the lock has for it.
func Update(ctx context.Context, path string, o Options) ([]Outcome, error) {
	r := &run{Options: o, done: map[string]bool{}}
	_, err := r.visit(ctx, path)
	return r.outcomes, err
}

// Build fetches what the lock says and does not change the lock; it asks no server for archives
// that it already has. Without a lock it is Update. It returns a *resolve.OutOfSyncError or a
// *source.DigestError.
func Build(ctx context.Context, path string, o Options) ([]Outcome, error) {
	r := &run{Options: o, build: true, done: map[string]bool{}}
	_, err := r.visit(ctx, path)
	return r.outcomes, err
}

// run is one Update or Build.
type run struct {
	Options
	build    bool
	outcomes []Outcome
	// above are the charts that depend on the current one.
	above []string
	// done has the charts that are finished, and whether any change is due in them or below.
	done map[string]bool
}

// visit handles one chart, and with Recursive the folders that it depends on before it. It reports whether
// a change is due in any of these.
func (r *run) visit(ctx context.Context, path string) (changed bool, err error) {
	real, err := filepath.Abs(path)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("load chart %s: %w", path, fs.ErrNotExist)
	case err != nil:
		return false, fmt.Errorf("load chart: %w", err)
	case slices.Contains(r.above, real):
		return false, fmt.Errorf("charts depend on each other in a circle: %s", strings.Join(append(r.above, real), " → "))
	}
	if changed, done := r.done[real]; done {
		return changed, nil
	}
	if !r.Check {
		unlock, err := r.Sources.LockChart(ctx, real)
		if err != nil {
			return false, err
		}
		defer unlock()
	}
	r.above = append(r.above, real)
	before := len(r.outcomes)
	out, err := r.one(ctx, path)
	r.above = r.above[:len(r.above)-1]
	if err != nil {
		return false, err
	}
	r.outcomes = append(r.outcomes, out)
	changed = slices.ContainsFunc(r.outcomes[before:], func(o Outcome) bool { return o.Changed })
	r.done[real] = changed
	return changed, nil
}

// one handles the chart in one folder; unless Check is set, the caller holds its lock.
func (r *run) one(ctx context.Context, path string) (Outcome, error) {
	f, err := readFolder(path, r.Load)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Chart: path, Dependencies: []Result{}, Warnings: f.warnings}
	if len(f.chart.Metadata.Dependencies) == 0 {
		return out, nil
	}
	j := &job{run: r, folder: f, build: r.build && f.lock != nil}
	if err := j.choose(); err != nil {
		return out, err
	}
	if err := j.below(ctx); err != nil {
		return out, err
	}
	if err := j.fetch(ctx); err != nil {
		return out, err
	}
	c, err := j.change()
	if err != nil {
		return out, err
	}
	j.tell(&out, c)
	if r.Check || !out.Changed {
		return out, nil
	}
	if err := f.sweep(); err != nil {
		return out, err
	}
	return out, f.write(c, outputfile.Swap)
}
