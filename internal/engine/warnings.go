package engine

import (
	"fmt"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/templating"
)

// duplicates warns about keys that rendered documents contain twice.
func duplicates(c manifest.Classified) []chart.Warning {
	var out []chart.Warning
	for _, d := range c.Duplicates {
		out = append(out, chart.Warning{
			Where: fmt.Sprintf("%s:%d (as rendered)", d.Path, d.Line),
			What:  fmt.Sprintf("key %q is given twice; the last one counts", d.Key),
		})
	}
	return out
}

// exponents warns about integers that were rendered as, for example, 1e+06. It does not show the
// number, which may be secret.
func exponents(r templating.Rendered) []chart.Warning {
	var out []chart.Warning
	for _, at := range r.Exponents {
		out = append(out, chart.Warning{
			Where: at.String(), File: at.File, Line: at.Line,
			What: "a large whole number is written as a float, like 1e+06 for 1000000; quote it in the values, or use int64 in the template",
		})
	}
	return out
}

// unknownKinds warns about lookups of kinds that the cluster does not have, such as configmap
// instead of ConfigMap.
func unknownKinds(r templating.Rendered) []chart.Warning {
	var out []chart.Warning
	for _, at := range r.Unknown {
		out = append(out, chart.Warning{
			Where: at.String(), File: at.File, Line: at.Line,
			What: fmt.Sprintf("lookup finds nothing, since %s has no kind %s", at.APIVersion, at.Kind),
		})
	}
	return out
}

// uniqueWarnings removes repeated warnings.
func uniqueWarnings(warnings []chart.Warning) []chart.Warning {
	seen := map[chart.Warning]bool{}
	return slices.DeleteFunc(warnings, func(w chart.Warning) bool {
		again := seen[w]
		seen[w] = true
		return again
	})
}
