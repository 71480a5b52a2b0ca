// Package dependency brings the charts that a chart depends on into its charts/
// folder, and writes Chart.lock: Helm 4.3.1's, with the digest of each archive besides,
// so that an archive that is published twice under one version is refused.
//
// Which versions and URLs are meant is package resolve's to say, and package source
// fetches. What a folder holds changes as a whole, or not at all.
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
	"github.com/kubectl-release/kubectl-release/internal/source"
)

// Options say how dependencies are brought.
type Options struct {
	Sources *source.Sources
	Load    chartload.Options
	// SkipRefresh takes the indexes of configured repositories as they are.
	SkipRefresh bool
	// Recursive does the same for folders that are dependencies, these first.
	Recursive bool
	// Check writes nothing, and tells what would be.
	Check bool
	// Now is when the lock is made.
	Now time.Time
}

// Outcome is what has become of one chart's dependencies.
type Outcome struct {
	// Chart is its folder.
	Chart        string   `json:"chart"`
	Dependencies []Result `json:"dependencies"`
	// Removed are files of charts/ that no dependency is any more.
	Removed []string `json:"removed,omitempty"`
	// LockChanged says that there is a new lock, Changed that that or charts/ is new.
	LockChanged bool            `json:"lockChanged"`
	Changed     bool            `json:"changed"`
	Warnings    []chart.Warning `json:"-"`
}

// Result is one dependency.
type Result struct {
	Name       string `json:"name"`
	Version    string `json:"version"`
	Repository string `json:"repository"`
	Digest     string `json:"digest,omitempty"`
	// File is its name in charts/, "" for what has no repository.
	File string `json:"file,omitempty"`
	// New says that it was not there before, Origin where it is from then.
	New    bool   `json:"new"`
	Origin string `json:"origin,omitempty"`
}

// Update chooses the newest versions that Chart.yaml allows, fetches what is not there,
// and writes charts/ and the lock. A chart without dependencies is left alone. The
// outcomes are those of the charts in the order in which they were done. Errors:
// *source.DigestError when a version has other bytes than the lock has a digest of.
func Update(ctx context.Context, path string, o Options) ([]Outcome, error) {
	r := &run{Options: o}
	err := r.visit(ctx, path)
	return r.outcomes, err
}

// Build brings what the lock says and changes no lock; it asks no server for what is
// there. Without a lock it is Update. Errors: *resolve.OutOfSyncError,
// *source.DigestError.
func Build(ctx context.Context, path string, o Options) ([]Outcome, error) {
	r := &run{Options: o, build: true}
	err := r.visit(ctx, path)
	return r.outcomes, err
}

// run is one Update or Build.
type run struct {
	Options
	build    bool
	outcomes []Outcome
	// above are the charts whose dependency the present one is, done those that are
	// complete.
	above, done []string
}

// visit does one chart, and with Recursive first the folders that it depends on.
func (r *run) visit(ctx context.Context, path string) error {
	real, err := filepath.Abs(path)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("load chart %s: %w", path, fs.ErrNotExist)
	case err != nil:
		return fmt.Errorf("load chart: %w", err)
	case slices.Contains(r.above, real):
		return fmt.Errorf("charts depend on each other in a circle: %s", strings.Join(append(r.above, real), " → "))
	case slices.Contains(r.done, real):
		return nil
	}
	if !r.Check {
		unlock, err := r.Sources.LockChart(ctx, real)
		if err != nil {
			return err
		}
		defer unlock()
	}
	r.above = append(r.above, real)
	out, err := r.one(ctx, path)
	r.above = r.above[:len(r.above)-1]
	if err != nil {
		return err
	}
	r.done, r.outcomes = append(r.done, real), append(r.outcomes, out)
	return nil
}

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
	return out, f.write(c)
}
