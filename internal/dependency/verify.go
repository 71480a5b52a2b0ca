package dependency

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/source"
)

// maxCompared limits the versions of archives that are compared with dependencies of the same name in a lock,
// which charts/ and the lock of one chart can have tens of thousands of.
const maxCompared = 50_000

// Verify checks the archives in a chart's charts/ against the digests in its lock, as far as it has
// any, and returns a *source.DigestError for one that differs: every archive of a locked chart is
// rendered, whatever it is called. Unpacked charts can't be checked, and missing ones are not reported.
func Verify(c *chart.Chart) error {
	lock, err := resolve.LockIn(c)
	if lock == nil || err != nil || !lock.Pins() {
		return nil // one that can't be read promises nothing
	}
	unpinned, compared := map[string]int{}, 0 // entries without a digest, which any version in their range fits
	for _, l := range lock.Dependencies {
		if l.Digest == "" {
			unpinned[l.Name]++
		}
	}
	for _, f := range c.Raw {
		if !isArchive(f.Name) {
			continue
		}
		digest := source.Digest(f.Data)
		if lock.Promises(digest) {
			continue
		}
		held, _, err := chartload.Archive(bytes.NewReader(f.Data), f.Name)
		if err != nil {
			return err
		}
		if compared += unpinned[held.Name()]; compared > maxCompared {
			return fmt.Errorf("chart %s: more than %d versions would have to be compared with those in %s", c.Name(), maxCompared, resolve.LockName(c.Metadata))
		}
		if want := lock.DigestOf(held.Name(), held.Metadata.Version); want != "" {
			return &source.DigestError{What: c.Name() + "/" + f.Name, Want: want, Got: digest}
		}
	}
	return nil
}

// Verified takes what chartload returned, and returns it if the chart passes Verify:
// Verified(chartload.Load(path, options)).
func Verified(c *chart.Chart, warnings []chart.Warning, err error) (*chart.Chart, []chart.Warning, error) {
	if err == nil {
		err = Verify(c)
	}
	if err != nil {
		return nil, nil, err
	}
	return c, warnings, nil
}

// isArchive reports whether a file of a chart is an archive of a subchart, as chartload sees it.
func isArchive(file string) bool {
	name, ok := strings.CutPrefix(file, chartsFolder+"/")
	return ok && path.Ext(name) == ".tgz" && !strings.Contains(name, "/") && !strings.HasPrefix(name, "_") && !strings.HasPrefix(name, ".")
}
