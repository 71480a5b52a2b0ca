package helmfile

import (
	"fmt"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// resolve sets the needs of a file's entries; needs are as they are written there, in the order of
// the entries. off are the releases whose conditions are false: as with helmfile, nothing waits for
// them.
func (s *state) resolve(entries, off []releaseset.Entry, needs [][]string) error {
	for i := range entries {
		e := &entries[i]
		for _, need := range needs[i] {
			key, err := releaseset.ResolveNeed(entries, e.Key, need)
			if err == nil {
				e.Needs = append(e.Needs, key)
				continue
			}
			if _, isOff := releaseset.ResolveNeed(off, e.Key, need); isOff != nil {
				return &releaseset.FieldError{Place: e.From, What: err.Error()}
			}
			s.warnings = append(s.warnings, fmt.Sprintf("%s: %s needs %s, whose condition is false: nothing waits for it", e.From, e.Key, need))
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
