package plan

import (
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// Sources returns the revisions whose manifests make up what is stored: the
// last successful one and every later attempt, oldest first, so whatever a
// failed or killed attempt may have created is known. Revisions up to an
// uninstall no longer own anything.
func Sources(h release.History) []*release.Revision {
	var sources []*release.Revision
	for _, r := range h {
		switch {
		case r.Info.Status == release.StatusUninstalled:
			sources = nil
		case len(sources) > 0 && r.Succeeded():
			sources = []*release.Revision{r}
		default:
			sources = append(sources, r)
		}
	}
	return sources
}

// runsTold is the number of earlier revisions whose durations a plan shows.
const runsTold = 3

// Timed returns the revisions for which a plan shows how long hooks took: the last ones that were
// deployed, the newest first.
func Timed(h release.History) []*release.Revision {
	var out []*release.Revision
	for _, r := range slices.Backward(h.SinceUninstall()) {
		if r.Succeeded() && len(out) < runsTold {
			out = append(out, r)
		}
	}
	return out
}

// Attempts returns the failed revisions before the Sources. Our failed runs leave no objects
// behind, but Helm prunes only against the last successful revision: an object that a failed
// attempt sent and that is not in the next successful revision stays in the cluster (Helm 3.22.0
// and 4.3.1, pkg/action/upgrade.go, prepareUpgrade and performUpgrade).
func Attempts(h release.History) []*release.Revision {
	h = h.SinceUninstall()
	if sources := Sources(h); len(sources) > 0 {
		h = h[:slices.Index(h, sources[0])]
	}
	return slices.DeleteFunc(slices.Clone(h), func(r *release.Revision) bool {
		return !r.Failed()
	})
}

// Sent is what one revision sent: the objects of its manifest, parsed and with namespaces.
type Sent struct {
	Revision int
	Objects  []manifest.Object
	// Attempt is true for one of the revisions that Attempts returns.
	Attempt bool
}

// Stored merges what the Attempts and the Sources sent, object by object, in
// the order in which the objects first appear. The Attempts must come first in
// sent.
func Stored(sent []Sent) []StoredObject {
	most := 0
	for _, s := range sent {
		most = max(most, len(s.Objects))
	}
	stored, index := make([]StoredObject, 0, most), make(map[manifest.ID]int, most)
	for _, s := range sent {
		only := []int{s.Revision}
		for j, o := range s.Objects {
			i, known := index[o.ID]
			if !known {
				i = len(stored)
				index[o.ID] = i
				stored = append(stored, StoredObject{ID: o.ID, Docs: s.Objects[j : j+1 : j+1], Revisions: only[:1:1]}) // appending copies them
			} else {
				stored[i].Docs = append(stored[i].Docs, o)
				stored[i].Revisions = append(stored[i].Revisions, s.Revision)
			}
			if s.Attempt {
				stored[i].Attempts++
			}
			stored[i].Revision = s.Revision
		}
	}
	return stored
}
