package cluster

import (
	"fmt"
	"testing"
)

// A client that lives long, such as the controller's, passes on every warning once, and does not remember all of
// them for ever.
func TestWarningsAreForgotten(t *testing.T) {
	const many = 5000
	told := map[string]int{}
	w := &warnings{seen: map[string]bool{}, warn: func(text string) { told[text]++ }}
	for i := range many {
		for range 2 {
			w.HandleWarningHeaderWithContext(t.Context(), 299, "", fmt.Sprint("this is old: ", i))
		}
	}
	if len(told) != many {
		t.Errorf("%d warnings were passed on, want %d", len(told), many)
	}
	for text, times := range told {
		if times != 1 {
			t.Errorf("%s: passed on %d times", text, times)
		}
	}
	if len(w.seen) > 1000 {
		t.Errorf("%d warnings are remembered", len(w.seen))
	}
}
