package sdk

import (
	"context"
	"errors"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// Entry is a revision in the history of a release.
type Entry struct {
	Revision     int
	Status       string
	Chart        string
	ChartVersion string
	AppVersion   string
	Description  string
	LastDeployed time.Time
}

// Revision is one stored revision of a release. It holds the release's secrets.
type Revision struct {
	Entry
	// Values are the user's own, without the chart's defaults.
	Values   map[string]any
	Manifest string
	Notes    string
}

// History reads the stored revisions of a release, oldest first. One that can't be read is left out, with a call of
// [Options.Warn]; if it is the newest, that is an error. Errors: *[NoReleaseError].
func (c *Client) History(ctx context.Context, r Release) ([]Entry, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	history, corrupt, err := c.engine.History(ctx, r.key())
	if err != nil {
		return nil, err
	}
	for _, record := range corrupt {
		c.warn("the " + record.Why)
	}
	entries := make([]Entry, 0, len(history))
	for _, stored := range history {
		entries = append(entries, entry(stored))
	}
	return entries, nil
}

// Get reads one revision of a release; 0 is the newest. Errors: *[NoReleaseError],
// *[NoRevisionError].
func (c *Client) Get(ctx context.Context, r Release, revision int) (*Revision, error) {
	stored, err := c.get(ctx, r, revision)
	if err != nil {
		return nil, err
	}
	return &Revision{Entry: entry(stored), Values: stored.Config, Manifest: stored.Manifest, Notes: stored.Info.Notes}, nil
}

func (c *Client) get(ctx context.Context, r Release, revision int) (*release.Revision, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if revision == 0 {
		return c.engine.Newest(ctx, r.key())
	}
	stored, err := c.engine.Store.Get(ctx, r.key(), revision)
	var missing *releasestore.NotFoundError
	if errors.As(err, &missing) {
		return nil, &NoRevisionError{Key: r.key(), Revision: revision}
	}
	return stored, err
}

func entry(r *release.Revision) Entry {
	e := Entry{Revision: r.Version, Status: string(r.Info.Status), Description: r.Info.Description, LastDeployed: r.Info.LastDeployed}
	if r.Chart != nil && r.Chart.Metadata != nil {
		e.Chart, e.ChartVersion, e.AppVersion = r.Chart.Metadata.Name, r.Chart.Metadata.Version, r.Chart.Metadata.AppVersion
	}
	return e
}
