package lint

import (
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/values"
)

const valuesFile = "values.yaml"

// valuesFile checks values.yaml on its own and, with the user's values on top, against
// the chart's own schema. Subcharts' defaults don't count here, as in Helm 4.3.1
// (pkg/chart/v2/lint/rules/values.go, validateValuesFile); templates checks the values of the whole
// tree.
func (r *run) valuesFile() {
	f := r.file(valuesFile)
	if f == nil {
		r.add(Finding{Severity: Info, Path: valuesFile, Message: "it is missing"})
		return
	}
	table, _, err := values.Parse(f.Data, valuesFile)
	if err != nil {
		path, line, message := placed(valuesFile, strings.TrimPrefix(err.Error(), "parse "+valuesFile+": "))
		r.add(Finding{Severity: Error, Path: path, Line: line, Message: "its YAML can't be read: " + message})
		return
	}
	schema := r.file("values.schema.json")
	if schema == nil || len(schema.Data) == 0 || r.Options.SkipSchema {
		return
	}
	name := "chart"
	if r.Chart != nil {
		name = r.Chart.Name()
	}
	alone := &chart.Chart{Metadata: &chart.Metadata{Name: name}, Values: table, Schema: schema.Data}
	merged, err := values.Coalesce(alone, r.Values)
	if err == nil {
		err = values.Validate(alone, merged)
	}
	if err != nil {
		r.add(Finding{Severity: Error, Path: valuesFile, Message: err.Error()})
	}
}
