package cluster

import (
	"fmt"
	"testing"
	"testing/synctest"
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

// While a warning can't be written, requests that have it, too, go on.
func TestWarningsThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read, passed := make(chan struct{}), false
		w := &warnings{seen: map[string]bool{}, warn: func(string) { <-read }}
		go w.HandleWarningHeaderWithContext(t.Context(), 299, "", "this is old")
		synctest.Wait()
		go func() {
			w.HandleWarningHeaderWithContext(t.Context(), 299, "", "this is old")
			passed = true
		}()
		synctest.Wait()
		if !passed {
			t.Error("a request waits for its warning to be read")
		}
		close(read)
	})
}
