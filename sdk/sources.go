package sdk

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"slices"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/dependency"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/source"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// Sources are the repositories and registries that charts come from, with the files in which Helm
// and kubectl release keep them, see docs/sources.md. Getter plugins are not run. They are safe for
// concurrent use.
type Sources struct {
	paths    source.Paths
	settings resolve.Settings
}

// FindSources finds the files as Helm does, from variables such as HELM_CONFIG_HOME. lookup is
// [os.LookupEnv] or a replacement for it; home is the home folder. Errors: sources.yaml can't be
// read.
func FindSources(lookup func(name string) (value string, set bool), home string) (*Sources, error) {
	paths := source.FindPaths(lookup, runtime.GOOS, home)
	settings, err := paths.ReadSettings()
	if err != nil {
		return nil, err
	}
	settings.Plugins = nil
	return &Sources{paths: paths, settings: settings}, nil
}

// run returns the sources for one run: what a server said before, as about a version of a chart, may
// no longer be so.
func (s *Sources) run() *source.Sources {
	return &source.Sources{Paths: s.paths, Settings: s.settings, UserAgent: "kubectl-release-sdk", Verification: source.Verification{Now: releasestore.SystemClock{}.Now}}
}

// ChartOptions say which chart is meant. The zero value is usable.
type ChartOptions struct {
	// Version is a version, a range such as "^1.2", or "" for the newest that is not a prerelease;
	// with Devel, prereleases count, too.
	Version string
	Devel   bool
	// Repo is the URL of the chart's repository.
	Repo string
}

// LoadChart loads a chart from a folder or file, REPO/NAME, a URL, or oci://HOST/PATH, tried in
// Helm's order. The index of Repo is fetched if it has changed; for REPO/NAME the one in the cache
// counts, as in Helm. Plans of a fetched chart are pinned to its bytes, see [Client.Apply]. Errors: the
// chart does not exist, can't be fetched, or is not the one that the index or digest promises; if it has
// to be signed, also if its name or version is another one, which is only a warning otherwise. So is a
// version that is asked for where there is a folder or file. Warnings are among the problems of plans.
func (s *Sources) LoadChart(ctx context.Context, name string, o ChartOptions) (*Chart, error) {
	there := func(path string) bool {
		_, err := os.Lstat(path)
		return err == nil
	}
	ref, err := resolve.Parse(resolve.Request{Chart: name, Repo: o.Repo, Version: o.Version, Devel: o.Devel}, there, nil)
	if err != nil {
		return nil, err
	}
	if ref.Kind == resolve.Local {
		return loadLocal(ref.Path, o.Version)
	}
	run := s.run()
	defer run.Close()
	found, err := run.Find(ctx, ref)
	if err != nil {
		return nil, err
	}
	fetched, other, err := dependency.Fetch(ctx, run, found)
	if err != nil {
		return nil, err
	}
	loaded, warnings, err := dependency.Verified(chartload.Archive(bytes.NewReader(fetched.Data), fetched.FileName()))
	if err != nil {
		return nil, err
	}
	return &Chart{chart: loaded, warnings: slices.Concat(found.Warnings, other, warnings), pin: fetched.Pin(ref, name)}, nil
}

// loadLocal loads a folder or file, which has the version that it has.
func loadLocal(path, version string) (*Chart, error) {
	loaded, err := LoadChart(path)
	if err == nil && version != "" {
		loaded.warnings = append(loaded.warnings, chart.Warning{Where: path, What: "it is a file or folder here, so Version has no effect"})
	}
	return loaded, err
}

// unmoved returns an error if the source of the plan's chart now has a different one. A server that
// does not answer is not an error: the chart is in the plan.
func (c *Client) unmoved(ctx context.Context, p *Plan) error {
	if c.sources == nil {
		return nil
	}
	run := c.sources.run()
	defer run.Close()
	difference, err := run.Moved(ctx, p.plan.ChartSource)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		c.warn(err.Error())
	case difference != "":
		return &StaleError{Differences: []string{difference}}
	}
	return nil
}
