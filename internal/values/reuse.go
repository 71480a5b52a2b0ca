package values

import (
	"fmt"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// Reuse says which values of the previous revision an upgrade reuses.
type Reuse int

// The modes, as in the flags of Helm 4.3.1's upgrade
// (https://github.com/helm/helm/blob/v4.3.1/pkg/action/upgrade.go, reuseValues). With several
// flags, ResetValues takes precedence over ReuseValues, and that over ResetThenReuseValues.
const (
	// ReuseUnlessGiven reuses the earlier user values if no new ones are given.
	ReuseUnlessGiven Reuse = iota
	// ResetValues (--reset-values) ignores the earlier values.
	ResetValues
	// ReuseValues (--reuse-values) merges the new values into all values that the release had,
	// including the defaults of the earlier chart.
	ReuseValues
	// ResetThenReuseValues (--reset-then-reuse-values) merges the new values into the earlier user
	// values; the defaults are those of the new chart.
	ResetThenReuseValues
)

// Previous is the revision whose values are reused.
type Previous struct {
	Chart *chart.Chart
	// Config is the user's values of that revision.
	Config map[string]any
}

// Apply returns the chart and the user values to use. The chart is next itself unless the mode
// replaces its defaults. The arguments are not changed.
func (r Reuse) Apply(prev Previous, next *chart.Chart, user map[string]any) (*chart.Chart, map[string]any, error) {
	switch r {
	case ResetValues:
		return next, user, nil
	case ReuseValues:
		old, err := Coalesce(prev.Chart, prev.Config)
		if err != nil {
			return nil, nil, fmt.Errorf("rebuild the values of the earlier revision: %w", err)
		}
		next = next.Clone()
		next.Values = old
		return next, coalesceTables(user, prev.Config), nil
	case ResetThenReuseValues:
		return next, coalesceTables(user, prev.Config), nil
	case ReuseUnlessGiven:
		if len(user) == 0 && len(prev.Config) > 0 {
			return next, Clone(prev.Config), nil
		}
		return next, user, nil
	}
	return nil, nil, fmt.Errorf("unknown way to reuse values: %d", r)
}
