package helmfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// resolve sets the needs of a file's entries; needs are as they are written there, in the order of
// the entries. off are the releases whose conditions are false: a need may mean one of them, and then, as
// with helmfile, nothing waits for it.
func (s *state) resolve(entries, off []releaseset.Entry, needs [][]string) error {
	declared, on := slices.Clone(entries), len(entries)
	at := func(key releaseset.Key) int {
		return slices.IndexFunc(declared, func(e releaseset.Entry) bool { return e.Key == key })
	}
	for _, e := range off {
		if at(e.Key) < 0 { // a release may be declared several times, with conditions that exclude each other
			declared = append(declared, e)
		}
	}
	for i := range entries {
		e := &entries[i]
		for _, need := range needs[i] {
			key, err := releaseset.ResolveNeed(declared, e.Key, need)
			if err != nil {
				return &releaseset.FieldError{Place: e.From, What: err.Error()}
			}
			if at(key) >= on {
				s.warnings = append(s.warnings, fmt.Sprintf("%s: %s needs %s, whose condition is false: nothing waits for it", e.From, e.Key, need))
				continue
			}
			e.Needs = append(e.Needs, key)
		}
	}
	return nil
}

// condition looks up a.b in the state's values. What does not exist is false.
func condition(values map[string]any, at string) (bool, error) {
	var v any = values
	for key := range strings.SplitSeq(at, ".") {
		table, _ := v.(map[string]any)
		if v = table[key]; v == nil {
			return false, nil
		}
	}
	on, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("condition %s is %v, not true or false", at, v)
	}
	return on, nil
}
