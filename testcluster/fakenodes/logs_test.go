package fakenodes

import "testing"

// kubectl logs --tail sends a count, or nothing for all lines.
func TestLastLines(t *testing.T) {
	tests := []struct{ why, count, want string }{
		{"no count is all", "", "a\nb\nc\n"},
		{"the last ones", "2", "b\nc\n"},
		{"more than there are", "9", "a\nb\nc\n"},
		{"none", "0", ""},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			if got := lastLines("a\nb\nc\n", test.count); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// The annotation wins: a label can't hold a time, and the annotation is the more deliberate of the two.
func TestBehaviour(t *testing.T) {
	got := Behaviour(map[string]string{BehaveKey: "slow:10s"}, map[string]string{BehaveKey: "crash"})
	if got != "slow" {
		t.Errorf("got %q, want slow", got)
	}
	if got := Behaviour(nil, map[string]string{BehaveKey: "crash"}); got != "crash" {
		t.Errorf("got %q, want crash", got)
	}
}
