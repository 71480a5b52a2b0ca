package budget

import (
	"strings"
	"testing"
)

// A key is charged the time that it takes on average: a chart can make twelve RSA keys
// of 4,096 bits or a hundred of 2,048 bits, and keys use no steps.
func TestKeysHaveTheirOwnBudget(t *testing.T) {
	for _, c := range []struct {
		name string
		args []any
		most int
	}{
		{"genPrivateKey", []any{"rsa"}, 12},
		{"genPrivateKey", []any{"dsa"}, 12},
		{"genPrivateKey", []any{"ed25519"}, 100_000},
		{"genCA", []any{"a", 365}, 100},
		{"genSelfSignedCert", []any{"a", nil, nil, 365}, 100},
		{"genCAWithKey", []any{"a", 365, strings.Repeat("x", 1700)}, 2500},
		{"genCAWithKey", []any{"a", 365, strings.Repeat("x", 17000)}, 2}, // RSA, 20,000 bits
	} {
		var b Budget
		made := 0
		for GuardOf(c.name)(&b, c.args) == nil {
			made++
		}
		if made != c.most {
			t.Errorf("%s %.20v: %d are allowed, want %d", c.name, c.args, made, c.most)
		}
		if b.Steps != 0 {
			t.Errorf("%s uses %d steps", c.name, b.Steps)
		}
	}
}

// Copying text takes less time than encoding it.
func TestPrintingIsCheap(t *testing.T) {
	text := strings.Repeat("a", 1<<20)
	for _, c := range []struct {
		format string
		most   int
	}{
		{"%s,%s", 1 << 13},
		{"%5d. x #1 %-30v%%", 1 << 13},
		{"%q", 1 << 19},
		{"% #x", 1 << 19},
		{"%[1]s%[1]s", 1 << 15},
	} {
		var b Budget
		if err := GuardOf("printf")(&b, []any{c.format, text}); err != nil {
			t.Fatal(err)
		}
		if b.Steps > c.most || b.Steps < c.most/4 {
			t.Errorf("printf %q: %d steps of at most %d", c.format, b.Steps, c.most)
		}
	}
}
