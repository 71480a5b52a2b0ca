package setrun

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/source"
)

// complete adds the dependencies that are not in charts/: those of Chart.lock if there is one, else those
// of Chart.yaml (source-controller 1.9.1, internal/helm/chart/dependency_manager.go, Build). What has
// neither a path nor the URL of a repository or registry is left out.
func (c *charts) complete(ctx context.Context, which releaseset.Chart, to *chart.Chart) error {
	wanted, err := required(to)
	if err != nil {
		return fmt.Errorf("%s of %s: %w", resolve.LockName(to.Metadata), which.Path, err)
	}
	var room *chartload.Room
	for _, d := range wanted {
		if slices.ContainsFunc(to.Dependencies(), func(sub *chart.Chart) bool { return sub.Name() == d.Name }) {
			continue
		}
		sub, err := c.find(ctx, which, d)
		if err != nil {
			return fmt.Errorf("dependency %s of %s: %w", d.Name, which.Path, err)
		}
		if sub == nil {
			continue
		}
		if room == nil { // most charts have all of them in charts/
			if room, err = chartload.RoomIn(to); err != nil {
				return err
			}
		}
		if err := room.Add(sub); err != nil {
			return fmt.Errorf("chart %s with its dependencies: %w", which.Path, err)
		}
		to.AddDependency(sub)
	}
	return nil
}

// required returns what a chart depends on. Errors: its lock can't be parsed.
func required(c *chart.Chart) ([]resolve.Locked, error) {
	lock, err := resolve.LockIn(c)
	if err != nil {
		return nil, err
	}
	if lock != nil {
		return lock.Dependencies, nil
	}
	out := make([]resolve.Locked, 0, len(c.Metadata.Dependencies))
	for _, d := range c.Metadata.Dependencies {
		out = append(out, resolve.Locked{Name: d.Name, Repository: d.Repository, Version: d.Version})
	}
	return out, nil
}

// find reads or fetches a dependency of a chart; nil for one that has no place to be read from.
func (c *charts) find(ctx context.Context, of releaseset.Chart, d resolve.Locked) (*chart.Chart, error) {
	repository := strings.TrimSuffix(d.Repository, "/")
	scheme, _, _ := strings.Cut(d.Repository, "://")
	switch scheme {
	case "file":
		return c.beside(ctx, of, d)
	case "http", "https":
		return c.fetched(ctx, releaseset.Chart{Name: d.Name, Repo: repository, Version: d.Version, AnyBuild: true}, d)
	case "oci":
		return c.fetched(ctx, releaseset.Chart{Name: repository + "/" + d.Name, Version: d.Version}, d)
	}
	return nil, nil
}

// fetched fetches a dependency, which many charts may have, once. Errors: *source.DigestError if it is not what is locked.
func (c *charts) fetched(ctx context.Context, from releaseset.Chart, d resolve.Locked) (*chart.Chart, error) {
	fetched, err := once(c, c.fetches, from, func() (Fetched, error) { return c.fetch(ctx, Wanted{Chart: from, Dependency: true}) })
	if err != nil {
		return nil, &fetchError{err}
	}
	if got := source.Digest(fetched.Data); d.Digest != "" && got != d.Digest {
		return nil, &source.DigestError{What: fetched.Name, Want: d.Digest, Got: got}
	}
	sub, _, err := chartload.Archive(strings.NewReader(string(fetched.Data)), fetched.Name)
	if err == nil && sub.Name() != d.Name {
		err = fmt.Errorf("the archive holds chart %s", sub.Name())
	}
	return sub, err
}

// beside reads a file:// dependency.
func (c *charts) beside(ctx context.Context, of releaseset.Chart, d resolve.Locked) (*chart.Chart, error) {
	folder, err := releaseset.Join(of.Path, strings.TrimPrefix(d.Repository, resolve.FileScheme))
	if err != nil {
		return nil, err
	}
	sub, err := c.dependency(ctx, of, releaseset.Chart{Path: folder, Source: of.Source})
	if err == nil {
		err = fitting(sub.chart, d.Version)
	}
	if err != nil {
		return nil, err
	}
	return sub.chart.Clone(), nil
}

// dependency loads a file:// dependency of a chart. It returns an error, instead of waiting forever,
// for one that depends on the chart itself.
func (c *charts) dependency(ctx context.Context, of, which releaseset.Chart) (loaded, error) {
	c.mu.Lock()
	circular := which == of || c.dependsOn(which, of)
	if !circular {
		c.needs[of] = append(c.needs[of], which)
	}
	c.mu.Unlock()
	if circular {
		return loaded{}, fmt.Errorf("chart %s depends on itself", of.Path)
	}
	return c.load(ctx, which)
}

// dependsOn reports whether a chart depends on another one, as far as they have been loaded. The
// caller holds mu.
func (c *charts) dependsOn(one, other releaseset.Chart) bool {
	seen := map[releaseset.Chart]bool{}
	var leads func(releaseset.Chart) bool
	leads = func(from releaseset.Chart) bool {
		seen[from] = true
		return slices.ContainsFunc(c.needs[from], func(d releaseset.Chart) bool { return d == other || !seen[d] && leads(d) })
	}
	return leads(one)
}

// fitting returns an error unless a chart's version is in the range that a dependency asks for.
func fitting(c *chart.Chart, version string) error {
	wanted, err := semver.NewConstraint(version)
	if err != nil {
		return fmt.Errorf("version %q: %w", version, err)
	}
	if have, err := semver.NewVersion(c.Metadata.Version); err != nil || !wanted.Check(have) {
		return fmt.Errorf("its version is %s, but %s is required", c.Metadata.Version, version)
	}
	return nil
}
