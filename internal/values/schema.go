package values

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
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
// A $ref must point into the schema itself: nothing is fetched and no file is read. As in Helm, a
// reference to a urn: allows anything (Helm 4.3.1, pkg/chart/common/util/jsonschema.go, urnLoader).
// Errors: *OutsideSchemaError, among others.
func Validate(c *chart.Chart, vals map[string]any) error {
	var errs []error
	if c.Schema != nil {
		if err := validateOne(c.Schema, vals); err != nil {
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
		if err := Validate(sub, table); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func validateOne(schema []byte, vals map[string]any) (err error) {
	// The library panics on some malformed schemas.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("values.schema.json can't be used: %v", r)
		}
	}()
	if len(bytes.TrimSpace(schema)) == 0 {
		return errors.New("values.schema.json is empty")
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return fmt.Errorf("parse values.schema.json: %w", err)
	}
	if pairs(doc) > maxSchemaPairs {
		return errors.New("values.schema.json can't be used: its lists are too long")
	}
	if enumerated(doc)*entries(vals) > maxEnumerated {
		return errors.New("values.schema.json can't be used: it enumerates too much for values of this size")
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noLoader{})
	if err := compiler.AddResource(schemaURL, doc); err != nil {
		return fmt.Errorf("read values.schema.json: %w", err)
	}
	compiled, err := compiler.Compile(schemaURL)
	if unloaded := (*jsonschema.LoadURLError)(nil); errors.As(err, &unloaded) { // it does not unwrap
		return unloaded.Err
	}
	if err != nil {
		return fmt.Errorf("compile values.schema.json: %w", err)
	}
	countSteps(compiled)
	err = compiled.Validate(vals)
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		return errors.New("they do not fit values.schema.json:" + findings(invalid))
	}
	return err
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

// OutsideSchemaError says that a values.schema.json refers to another document, by network or file, as a
// part of it ($ref) or as the dialect that it is written in ($schema).
type OutsideSchemaError struct{ URL string }

func (e *OutsideSchemaError) Error() string {
	return fmt.Sprintf("values.schema.json refers to %q ($ref or $schema), and nothing is loaded from there", e.URL)
}

// noLoader refuses every document outside the schema.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	if strings.HasPrefix(url, "urn:") {
		return true, nil
	}
	return nil, &OutsideSchemaError{URL: url}
}
