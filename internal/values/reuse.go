package values

import (
	"fmt"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// Reuse says what an upgrade takes over from the values of the release before.
type Reuse int

// The modes, as Helm 4.3.1's upgrade flags name them
// (https://github.com/helm/helm/blob/v4.3.1/pkg/action/upgrade.go, reuseValues). When several flags are
// given, ResetValues wins over ReuseValues, and that over ResetThenReuseValues.
const (
	// ReuseUnlessGiven takes the earlier user values if there are no new ones.
	ReuseUnlessGiven Reuse = iota
	// ResetValues (--reset-values) forgets the earlier values.
	ResetValues
	// ReuseValues (--reuse-values) puts the new values on top of everything the
	// release had, the defaults of the earlier chart included.
	ReuseValues
	// ResetThenReuseValues (--reset-then-reuse-values) puts the new values on top
	// of the earlier user values; defaults are those of the new chart.
	ResetThenReuseValues
)

// Previous is the release that values are taken from.
type Previous struct {
	Chart *chart.Chart
	// Config is what the user gave then.
	Config map[string]any
}

// Apply returns the chart and the user values to go on with. The chart is next
// itself unless the mode replaces its defaults. Nothing passed in is changed.
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
