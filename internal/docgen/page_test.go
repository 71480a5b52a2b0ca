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

// Who reads the plan by a program looks up fields on the page: it names them all.
func TestPlanPageNamesEveryField(t *testing.T) {
	raw, err := planSchema()
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
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "plan-json.md"))
	if err != nil {
		t.Fatal(err)
	}
	fields := 0
	for _, name := range slices.Sorted(maps.Keys(schema.Defs)) {
		for _, field := range slices.Sorted(maps.Keys(schema.Defs[name].Properties)) {
			fields++
			if !strings.Contains(string(page), "`"+field+"`") {
				t.Errorf("docs/plan-json.md says nothing of the field %s of %s", field, name)
			}
		}
	}
	if fields < 80 {
		t.Errorf("only %d fields were found in the schema", fields)
	}
}
