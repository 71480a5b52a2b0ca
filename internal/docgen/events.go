package main

import (
	"maps"
	"slices"

	"github.com/invopop/jsonschema"

	"github.com/kubectl-release/kubectl-release/internal/eventstream"
)

// eventsSchema returns the JSON schema of one line of the stream that -o json
// prints while a command applies, derived from the Go types. The fields that
// each type of event always has come from eventstream.Types.
func eventsSchema() ([]byte, error) {
	schema := reflector().Reflect(&eventstream.Event{})
	schema.ID = pages + "events.schema.json"
	schema.Title = "An event of kubectl release, format " + eventstream.FormatVersion
	types := eventstream.Types()
	event := schema.Definitions["Event"]
	event.Properties.Set("type", enum(slices.Sorted(maps.Keys(types))))
	schema.Definitions["RunSummary"].Properties.Set("outcome", enum(eventstream.RunOutcomes()))
	for _, name := range slices.Sorted(maps.Keys(types)) {
		only := jsonschema.NewProperties()
		only.Set("type", &jsonschema.Schema{Const: name})
		event.AllOf = append(event.AllOf, &jsonschema.Schema{
			If:   &jsonschema.Schema{Properties: only},
			Then: &jsonschema.Schema{Required: slices.Sorted(slices.Values(types[name]))},
		})
	}
	return indented(schema)
}

func enum[T ~string](values []T) *jsonschema.Schema {
	out := &jsonschema.Schema{Type: "string"}
	for _, v := range values {
		out.Enum = append(out.Enum, v)
	}
	return out
}
