package values

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	jsonkind "github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// schemaURL is where Helm has a chart's schema, which can refer to itself by it (Helm 4.3.1,
// pkg/chart/common/util/jsonschema.go, ValidateAgainstSingleSchema). Nothing is loaded from there.
const schemaURL = "file:///values.schema.json"

// Validate checks coalesced values against values.schema.json of the chart and of every subchart
// that has values. It reports all violations, each with the chart, the path of the value and the
// reason; an empty schema is an error, as in Helm. Drafts 4 to 2020-12 are supported.
//
// Nothing is fetched and no file is read: a $ref that leads out of the schema allows anything, and a
// warning says so. A urn: does, too, as in Helm (Helm 4.3.1, pkg/chart/common/util/jsonschema.go, urnLoader).
func Validate(c *chart.Chart, vals map[string]any) (warnings []chart.Warning, err error) {
	var errs []error
	if c.Schema != nil {
		outside, err := validateOne(c.Schema, vals)
		if len(outside) > 0 {
			warnings = append(warnings, chart.Warning{Where: path.Join(c.FullPath(), "values.schema.json"), What: unchecked(outside)})
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("values of chart %s: %w", c.FullPath(), err))
		}
	}
	for _, sub := range c.Dependencies() {
		v, ok := vals[sub.Name()]
		if !ok || v == nil {
			continue
		}
		table, ok := v.(map[string]any)
		if !ok {
			errs = append(errs, fmt.Errorf("values of chart %s: they must be a table, but are %s", sub.FullPath(), kind(v)))
			continue
		}
		more, err := Validate(sub, table)
		if warnings = append(warnings, more...); err != nil {
			errs = append(errs, err)
		}
	}
	return warnings, errors.Join(errs...)
}

// unchecked says that values are not checked against documents that were not loaded.
func unchecked(outside []string) string {
	which := slices.Min(outside)
	if more := len(outside) - 1; more > 0 {
		which += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("values are not checked against %s, to which it refers: nothing is loaded from there", which)
}

// validateOne returns the URLs of the documents that the schema refers to and that were not loaded.
func validateOne(schema []byte, vals map[string]any) (outside []string, err error) {
	// The library panics on some malformed schemas.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("values.schema.json can't be used: %v", r)
		}
	}()
	if len(bytes.TrimSpace(schema)) == 0 {
		return nil, errors.New("values.schema.json is empty")
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("parse values.schema.json: %w", err)
	}
	if pairs(doc) > maxSchemaPairs {
		return nil, errors.New("values.schema.json can't be used: its lists are too long")
	}
	if enumerated(doc)*parts(vals) > maxEnumerated {
		return nil, errors.New("values.schema.json can't be used: it enumerates too much for values of this size")
	}
	compiler := jsonschema.NewCompiler()
	loader := &noLoader{anything: map[string]any{}}
	loader.admit(doc)
	compiler.UseLoader(loader)
	if err := compiler.AddResource(schemaURL, doc); err != nil {
		return nil, fmt.Errorf("read values.schema.json: %w", err)
	}
	compiled, err := compiler.Compile(schemaURL)
	if unloaded := (*jsonschema.LoadURLError)(nil); errors.As(err, &unloaded) { // it does not unwrap
		return nil, unloaded.Err
	}
	if err != nil {
		return nil, fmt.Errorf("compile values.schema.json: %w", err)
	}
	countSteps(compiled)
	err = compiled.Validate(vals)
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		err = errors.New("they do not fit values.schema.json:" + findings(invalid))
	}
	return loader.asked, err
}

// findings returns the library's message without its first line, which only has the made-up
// location of the schema. The library ranges over maps; here the findings are in the order of their text.
func findings(invalid *jsonschema.ValidationError) string {
	sortCauses(invalid)
	text := invalid.Error()
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return text[i:]
	}
	return " " + text
}

func sortCauses(e *jsonschema.ValidationError) {
	if additional, ok := e.ErrorKind.(*jsonkind.AdditionalProperties); ok {
		slices.Sort(additional.Properties)
	}
	texts := make(map[*jsonschema.ValidationError]string, len(e.Causes))
	for _, cause := range e.Causes {
		sortCauses(cause)
		texts[cause] = strings.Join(cause.InstanceLocation, "/") + "\n" + cause.Error()
	}
	slices.SortStableFunc(e.Causes, func(a, b *jsonschema.ValidationError) int { return cmp.Compare(texts[a], texts[b]) })
}
