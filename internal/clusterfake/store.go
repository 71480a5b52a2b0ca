package clusterfake

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-release/kubectl-release/internal/release"
)

// Store is the record store of a cluster.
type Store struct{ *Cluster }

// Create stores a new revision.
func (s Store) Create(_ context.Context, r *release.Revision) error {
	return s.Write(fmt.Sprintf("record %d %s", r.Version, r.Info.Status), func() error {
		if old := s.Records[r.Version]; old != nil && old.Info.Status != r.Info.Status {
			return errors.New("that revision is taken")
		}
		s.Records[r.Version] = copied(r)
		return nil
	})
}

// Update overwrites a revision.
func (s Store) Update(_ context.Context, r *release.Revision) error {
	return s.Write(fmt.Sprintf("record %d %s", r.Version, r.Info.Status), func() error {
		s.Records[r.Version] = copied(r)
		return nil
	})
}

// copied returns a copy that does not change with the revision: what is stored is as it was written.
func copied(r *release.Revision) *release.Revision {
	return r.WithStatus(r.Info.Status, r.Info.Description)
}

// Delete removes a revision.
func (s Store) Delete(_ context.Context, _ release.Key, version int) error {
	return s.Write(fmt.Sprintf("drop %d", version), func() error {
		delete(s.Records, version)
		return nil
	})
}

// History returns all stored revisions.
func (s Store) History() release.History {
	var all []*release.Revision
	for _, r := range s.Records {
		all = append(all, r)
	}
	return release.NewHistory(all)
}
