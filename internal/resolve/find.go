package resolve

import (
	"fmt"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// Find chooses a version of a chart. Errors: *NoChartError, *NoVersionError; the chart's entries
// can't be decoded.
func (x *Index) Find(name string, w Wanted) (Entry, []chart.Warning, error) {
	if !x.Has(name) {
		return Entry{}, nil, &NoChartError{Name: name}
	}
	entries, warnings, err := x.Versions(name)
	if err != nil {
		return Entry{}, warnings, err
	}
	i, err := Choose(versions(entries), w)
	if err != nil {
		return Entry{}, warnings, fmt.Errorf("chart %s: %w", name, err)
	}
	if w.LastCreated && entries[i].Version != w.Version {
		return lastCreated(entries, entries[i].Version), warnings, nil
	}
	return entries[i], warnings, nil
}

// lastCreated returns the entry that was created last among the builds of a version.
func lastCreated(entries []Entry, version string) Entry {
	var best Entry
	for _, e := range entries {
		if sameVersion(e.Version, version) && (best.Version == "" || e.created().After(best.created())) {
			best = e
		}
	}
	return best
}

// created returns when the chart was created, the zero time if that can't be read.
func (e Entry) created() time.Time {
	at, _ := time.Parse(time.RFC3339Nano, e.Created)
	return at
}

// NoChartError says that an index does not have a chart.
type NoChartError struct{ Name string }

func (e *NoChartError) Error() string { return fmt.Sprintf("there is no chart %q", e.Name) }
