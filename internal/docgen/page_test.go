package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Whoever writes a program that reads plans looks up fields on the page: it names them all.
func TestPlanPageNamesEveryField(t *testing.T) {
	pageNamesEveryField(t, "plan-json.md", planSchema, 80)
}

// The same holds for events; fields of a plan in an event are on the plan's page.
func TestEventsPageNamesEveryField(t *testing.T) {
	pageNamesEveryField(t, "events.md", eventsSchema, 35, "Event", "RunSummary", "UndoSummary", "UndoStep")
}

// pageNamesEveryField looks on a page for the fields of a schema's types, or only of some
// of them.
func pageNamesEveryField(t *testing.T, name string, schemaOf func() ([]byte, error), least int, only ...string) {
	t.Helper()
	raw, err := schemaOf()
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Defs map[string]struct {
			Properties map[string]any `json:"properties"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	fields := 0
	for _, def := range slices.Sorted(maps.Keys(schema.Defs)) {
		if len(only) > 0 && !slices.Contains(only, def) {
			continue
		}
		for _, field := range slices.Sorted(maps.Keys(schema.Defs[def].Properties)) {
			fields++
			if !strings.Contains(string(page), "`"+field+"`") {
				t.Errorf("docs/%s says nothing of the field %s of %s", name, field, def)
			}
		}
	}
	if fields < least {
		t.Errorf("only %d fields were found in the schema", fields)
	}
}
