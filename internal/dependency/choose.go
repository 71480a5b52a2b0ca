package dependency

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	"golang.org/x/sync/errgroup"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/pack"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/source"
)

// chosen is a dependency with its chart.
type chosen struct {
	declared *chart.Dependency
	ref      resolve.Reference
	locked   resolve.Locked
	// data is the archive, nil for a dependency without a repository. stale says
	// that the archive is missing, which stays so only with Check.
	data  []byte
	stale bool
	// file is the archive's name in charts/.
	file     string
	origin   string
	warnings []chart.Warning
}

// job is a run's work on one chart.
type job struct {
	*run
	*folder
	// build takes the versions from the lock, which exists then.
	build    bool
	declared []*chart.Dependency
	all      []*chosen
}

// choose works out which charts are meant, as far as that is possible without asking a server.
func (j *job) choose() error {
	known, err := j.Sources.Repositories()
	if err != nil {
		return err
	}
	schemes, err := j.Sources.Schemes()
	if err != nil {
		return err
	}
	var lock *resolve.Lock
	if j.build {
		lock = j.lock
	}
	if j.declared, err = resolve.Declared(j.chart.Metadata, known, lock); err != nil {
		return err
	}
	if j.build {
		if err := resolve.InSync(j.chart.Metadata, j.declared, lock); err != nil {
			return fmt.Errorf("%s of %s: %w", j.readFrom, j.path, err)
		}
	}
	var errs []error
	for i, d := range j.declared {
		c := &chosen{declared: d, locked: resolve.Locked{Name: d.Name, Repository: d.Repository, Version: d.Version}}
		wanted := *d
		if j.build {
			c.locked = lock.Dependencies[i]
			wanted.Version, wanted.Repository = c.locked.Version, c.locked.Repository
		}
		if c.ref, err = resolve.Dependency(&wanted, known, j.path, schemes, j.build); err != nil {
			errs = append(errs, err)
		}
		if j.build && (c.ref.Kind == resolve.Configured || c.ref.Kind == resolve.Unconfigured) {
			c.ref.Digest = c.locked.Digest
		}
		j.all = append(j.all, c)
	}
	return errors.Join(errs...)
}

// below visits the folders that the chart depends on, with Recursive.
func (j *job) below(ctx context.Context) error {
	if !j.Recursive {
		return nil
	}
	for _, c := range j.all {
		if c.ref.Kind != resolve.Local {
			continue
		}
		changed, err := j.visit(ctx, c.ref.Path)
		if err != nil {
			return err
		}
		c.stale = c.stale || j.Check && changed
	}
	return nil
}

// parallel is the number of charts that are fetched at the same time.
const parallel = 8

// fetch fetches the charts in parallel, except those that are in charts/ already. It returns the
// errors of all dependencies, in the order of Chart.yaml.
func (j *job) fetch(ctx context.Context) error {
	for _, a := range j.archives {
		j.Sources.Offer(a.data)
	}
	var refs []resolve.Reference
	for _, c := range j.all {
		if !j.here(c) {
			refs = append(refs, c.ref)
		}
	}
	if err := j.Sources.Refresh(ctx, refs, j.SkipRefresh); err != nil {
		return err
	}
	var g errgroup.Group
	g.SetLimit(parallel)
	errs := make([]error, len(j.all))
	for i, c := range j.all {
		g.Go(func() error {
			if err := j.fetchOne(ctx, c); err != nil {
				errs[i] = fmt.Errorf("dependency %s: %w", c.declared.Name, err)
			}
			return nil
		})
	}
	_ = g.Wait() // each error is in errs
	return errors.Join(errs...)
}

// here reports whether a chart is available without asking a server, or with Check would be
// fetched, which makes it stale.
func (j *job) here(c *chosen) bool {
	if c.ref.Kind == resolve.Vendored || c.ref.Kind == resolve.Local {
		return true
	}
	if !j.build || c.locked.Digest == "" || j.Sources.MayDemand(c.ref) {
		return false // whether it is signed has to be asked where the chart is
	}
	_, ok := j.Sources.At(c.locked.Digest)
	c.stale = !ok && j.Check
	return ok || c.stale
}

// fetchOne gets the archive of one dependency: from charts/, from a folder, or from its source.
func (j *job) fetchOne(ctx context.Context, c *chosen) error {
	switch {
	case c.stale:
		return nil
	case c.ref.Kind == resolve.Vendored:
		return j.checkVendored(c.declared)
	case c.ref.Kind == resolve.Local:
		return j.packFolder(c)
	case j.here(c):
		c.data, _ = j.Sources.At(c.locked.Digest)
		return c.take()
	}
	found, err := j.Sources.Find(ctx, c.ref)
	c.warnings = found.Warnings
	if err != nil {
		return err
	}
	fetched, _, err := Fetch(ctx, j.Sources, found) // take refuses what is only a warning
	if err != nil {
		return err
	}
	if fetched.Mismatch != nil {
		c.warnings = append(c.warnings, chart.Warning{Where: c.declared.Name, What: fetched.Mismatch.Error()})
	}
	version := found.Version
	if c.ref.Kind == resolve.Registry {
		version = resolve.VersionOf(found.Tag())
	}
	if err := j.promised(c, version, fetched); err != nil {
		return err
	}
	c.data, c.origin = fetched.Data, fetched.Location()
	c.locked.Version, c.locked.Digest = version, fetched.Digest
	return c.take()
}

// checkVendored checks that charts/ holds a dependency without a repository, in a version that is in its
// range, as Helm 4.3.1 does (pkg/downloader/manager.go, downloadAll).
func (j *job) checkVendored(d *chart.Dependency) error {
	versions, err := j.vendored(d.Name, j.Load)
	if err == nil && len(versions) == 0 {
		err = errors.New("it has no repository, and is not in charts/")
	}
	for _, version := range versions {
		if err = resolve.Satisfies(d, version); err == nil {
			return nil
		}
	}
	return err
}

// promised checks an archive against the digest that the lock has for its version: if they differ,
// somebody has published the version twice.
func (j *job) promised(c *chosen, version string, fetched source.Fetched) error {
	if j.lock == nil || j.Sources.AllowMismatch && !j.build {
		return nil
	}
	for _, l := range j.lock.Dependencies {
		same := l.Name == c.declared.Name && resolve.SameURL(l.Repository, c.locked.Repository) && l.Version == version
		if same && l.Digest != "" && l.Digest != fetched.Digest {
			return &source.DigestError{What: fmt.Sprintf("chart %s %s (%s)", l.Name, version, fetched.Location()), Want: l.Digest, Got: fetched.Digest}
		}
	}
	return nil
}

// take checks that the archive is the chart that was chosen, and sets its file name.
func (c *chosen) take() error {
	loaded, _, err := chartload.Archive(bytes.NewReader(c.data), c.declared.Name)
	if err != nil {
		return err
	}
	m := loaded.Metadata
	if m.Name != c.declared.Name {
		return fmt.Errorf("the archive holds chart %s", m.Name)
	}
	if !equal(m.Version, c.locked.Version) {
		return fmt.Errorf("the archive holds version %s, not %s", m.Version, c.locked.Version)
	}
	c.file = m.Name + "-" + m.Version + ".tgz"
	return nil
}

// equal reports whether two versions are the same, with or without a leading v.
func equal(a, b string) bool {
	v, errA := semver.NewVersion(a)
	w, errB := semver.NewVersion(b)
	return errA == nil && errB == nil && v.Equal(w) && v.Metadata() == w.Metadata()
}

// packFolder packs the archive of a dependency that is a folder.
func (j *job) packFolder(c *chosen) error {
	if info, err := os.Stat(c.ref.Path); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", c.ref.Path)
	}
	loaded, _, err := chartload.Load(c.ref.Path, j.Load)
	if err != nil {
		return err
	}
	if missing := pack.Missing(loaded); len(missing) > 0 {
		return fmt.Errorf("its own dependencies are missing (%s): pass --recursive to fetch them", strings.Join(missing, ", "))
	}
	version := loaded.Metadata.Version
	if err := resolve.Satisfies(c.declared, version); err != nil {
		return err
	}
	if j.build && !equal(version, c.locked.Version) {
		return fmt.Errorf("%s has version %s, but the lock says %s", c.ref.Path, version, c.locked.Version)
	}
	c.locked.Version, c.locked.Digest = version, ""
	c.origin = c.ref.Path
	if c.data = j.packed(loaded); c.data != nil {
		return c.take()
	}
	if c.data, err = pack.Archive(loaded, pack.Options{Time: time.Unix(0, 0).UTC()}); err != nil {
		return err
	}
	return c.take()
}
