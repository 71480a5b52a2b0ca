package dependency

import (
	"path"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/source"
)

// Verify checks the archives in a chart's charts/ against the digests in its lock, as far as it has
// any, and returns a *source.DigestError for one that differs. Unpacked charts can't be checked,
// and missing ones are not reported.
func Verify(c *chart.Chart) error {
	lock, err := resolve.LockIn(c)
	if lock == nil || err != nil {
		return nil // one that can't be read promises nothing
	}
	digests, unpacked := map[string]string{}, map[string]bool{}
	for _, f := range c.Raw {
		rest, ok := strings.CutPrefix(f.Name, chartsFolder+"/")
		name, _, inFolder := strings.Cut(rest, "/")
		switch {
		case !ok:
		case inFolder:
			unpacked[name] = true
		case path.Ext(name) == ".tgz":
			digests[source.Digest(f.Data)] = name
		}
	}
	for _, l := range lock.Dependencies {
		if _, there := digests[l.Digest]; there || l.Digest == "" || unpacked[l.Name] {
			continue
		}
		for digest, file := range digests {
			if isArchiveOf(c, file, l.Name) && !lock.Promises(digest) {
				return &source.DigestError{What: c.Name() + "/" + chartsFolder + "/" + file, Want: l.Digest, Got: digest}
			}
		}
	}
	return nil
}

// isArchiveOf reports whether a file in charts/ is the archive of the dependency called name, by the
// file's name: NAME-….tgz, unless a longer name of a subchart fits, as foo-bar fits foo-bar-1.0.tgz.
func isArchiveOf(c *chart.Chart, file, name string) bool {
	return strings.HasPrefix(file, name+"-") && !slices.ContainsFunc(c.Dependencies(), func(sub *chart.Chart) bool {
		return len(sub.Name()) > len(name) && strings.HasPrefix(file, sub.Name()+"-")
	})
}
