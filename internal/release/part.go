package release

import (
	"encoding/json"
	"io"
)

// Part says how much of a record was read.
type Part int

const (
	// Whole is all of it. Only such a revision can be written back.
	Whole Part = iota
	// Sent is everything except the files and values of the chart.
	Sent
	// Outline is what lists show: status, times, description, the chart's metadata. Reading ends as
	// soon as these are found.
	Outline
	// HookRuns is an Outline with the hooks, which say when they have run.
	HookRuns
)

// Part returns how much of the record the revision holds.
func (r *Revision) Part() Part { return r.part }

// ReadPart reads Sent, Outline or HookRuns from a record in JSON without keeping the rest in
// memory. most is how many bytes of JSON may be kept, entries how many entries those may have,
// which is reduced by the ones that they have. Errors are those of in, ErrTooLarge, ErrTooMany,
// and errors of JSON. What follows the last needed field is not read.
func ReadPart(in io.Reader, p Part, most int, entries *int) (*Revision, error) {
	keep, needed := partFields(p)
	pruned, err := prune(in, keep, needed, most)
	if err != nil {
		return nil, err
	}
	n := count(pruned)
	if n > *entries {
		return nil, ErrTooMany
	}
	type plain Revision
	var r plain
	if err := json.Unmarshal(pruned, &r); err != nil {
		return nil, err
	}
	*entries -= n
	r.part = p
	out := Revision(r)
	return &out, nil
}

// partFields returns the fields of a part, and the paths of those after which reading ends. In records of
// Helm and of this program the fields of an Outline are near the beginning, before the chart's files.
func partFields(p Part) (keep fields, needed []string) {
	if p == Outline || p == HookRuns {
		keep = fields{
			"name": nil, "version": nil,
			"info":  {"status": nil, "description": nil, "first_deployed": nil, "last_deployed": nil, "deleted": nil, "rollback_revision": nil},
			"chart": {"metadata": {"name": nil, "version": nil, "appVersion": nil, "annotations": nil}},
		}
		needed = []string{"info", "chart.metadata"}
		if p == HookRuns {
			keep["hooks"] = nil
			needed = append(needed, "hooks")
		}
		return keep, needed
	}
	return fields{
		"name": nil, "version": nil, "namespace": nil, "apply_method": nil,
		"info": nil, "chart": {"metadata": nil}, "config": nil, "manifest": nil, "hooks": nil,
	}, nil
}
