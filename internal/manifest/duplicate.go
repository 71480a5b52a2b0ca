package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	yamlv2 "go.yaml.in/yaml/v2"
	"sigs.k8s.io/yaml"
)

// Duplicate is a key that a rendered document gives twice in one mapping. The API
// server is sent the last one (Helm 4.3.1 says nothing).
type Duplicate struct {
	// Path is the template's; Line counts from 1 in what the template rendered.
	Path string
	Line int
	Key  string
}

// readHead reads a document's head and lists the lines and keys of duplicates. It reads
// strictly; only documents with duplicates, or with heads of unexpected types, are read
// a second time.
func readHead(text string, head *Head) ([]Duplicate, error) {
	raw, strictErr := yaml.YAMLToJSONStrict([]byte(text))
	if strictErr == nil && json.Unmarshal(raw, head) == nil {
		return nil, nil
	}
	*head = Head{}
	if err := yaml.Unmarshal([]byte(text), head); err != nil {
		return nil, err
	}
	var found *yamlv2.TypeError
	// A key that overrides one merged in by << is reported as a duplicate but is not one.
	if !errors.As(strictErr, &found) || strings.Contains(text, "<<") {
		return nil, nil
	}
	var out []Duplicate
	for _, e := range found.Errors {
		if m := duplicateText.FindStringSubmatch(e); m != nil {
			line, _ := strconv.Atoi(m[1])
			key, err := strconv.Unquote(m[2])
			if err != nil {
				key = m[2]
			}
			out = append(out, Duplicate{Line: line, Key: key})
		}
	}
	return out, nil
}

var duplicateText = regexp.MustCompile(`^line (\d+): key (.+) already set in map$`)

// place turns lines of a document into lines of the file that it is part of.
func place(found []Duplicate, f File, before int) []Duplicate {
	for i := range found {
		found[i].Path = f.Path
		found[i].Line += before
	}
	return found
}

// from says which line of what a file rendered is line 1 of a document.
func from(before int) string {
	if before > 0 {
		return fmt.Sprintf(" (lines are counted from its line %d)", before+1)
	}
	return ""
}
