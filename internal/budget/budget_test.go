package budget

import (
	"fmt"
	"reflect"
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
		{"htpasswd", []any{"a", "b"}, 166},
		{"bcrypt", []any{"a"}, 166},
		{"derivePassword", []any{uint32(1), "long", "a", "b", "c"}, 50},
		{"genPrivateKey", []any{"ed25519"}, 100_000},
		{"genCA", []any{"a", 365}, 100},
		{"genSelfSignedCert", []any{"a", nil, nil, 365}, 100},
		{"genCAWithKey", []any{"a", 365, strings.Repeat("x", 1700)}, 2500},
		{"genCAWithKey", []any{"a", 365, strings.Repeat("x", 17000)}, 2}, // RSA, 20,000 bits
	} {
		var b Budget
		made := 0
		for guardOf(c.name)(&b, c.args) == nil {
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
		{"%q", 1 << 16},
		{"% #x", 1 << 16},
		{"%[1]s%[1]s", 1 << 14},
	} {
		var b Budget
		if err := guardOf("printf")(&b, []any{c.format, text}); err != nil {
			t.Fatal(err)
		}
		if b.Steps > c.most || b.Steps < c.most/4 {
			t.Errorf("printf %q: %d steps of at most %d", c.format, b.Steps, c.most)
		}
	}
}

// Matching is charged for the instructions that it can reach: looking for words in a text that does not have them is
// cheap, and expressions that try many things at each character cost as much as there are.
func TestMatchingIsChargedForWhatItTries(t *testing.T) {
	text := strings.Repeat("  endpoint = 0.0.0.0:4317\n", 4000)
	for _, c := range []struct {
		expr, in    string
		least, most float64 // steps for each byte
	}{
		{`(?m)^[[:space:]]*otelcol\.exporter\.syslog[[:space:]]`, text, 0.1, 0.7},
		{`[ \t]+(\r?\n)`, text, 0.1, 0.5},
		{`(a|aa|aaa|b+)*c$`, text, 0.1, 0.8},
		{`(a|aa|aaa|b+)*c$`, strings.Repeat("a", 100_000), 0.8, 2},
		{`(a{500}|b{500})`, strings.Repeat("a", 100_000), 50, 100},
		{strings.Repeat("(a)?", 300), strings.Repeat("a", 10_000), 500, 5000},
	} {
		var b Budget
		if err := guardMatch(&b, []any{c.expr, c.in}); err != nil && b.Steps <= MaxSteps {
			t.Fatal(err)
		}
		if per := float64(b.Steps) / float64(len(c.in)); per < c.least || per > c.most {
			t.Errorf("%.40s: %.2f steps for each byte, want %v to %v", c.expr, per, c.least, c.most)
		}
	}
}

// An error about too many steps names the function that has taken most of them. Only if there is none is a loop likely.
func TestTooManyStepsHaveAReason(t *testing.T) {
	for name, c := range map[string]struct {
		loop int
		want string
	}{
		"calls":       {0, "most of them in calls of semverCompare"},
		"much more":   {MaxSteps / 4, "most of them in calls of semverCompare"},
		"mostly loop": {MaxSteps * 3 / 4, "look for an endless loop"},
	} {
		b, others := Budget{Steps: c.loop}, FunctionOf("add", reflect.TypeFor[int64]())
		_ = others.Before(&b, []any{1})
		_ = others.After(&b, 1)
		f := FunctionOf("semverCompare", reflect.TypeFor[bool]())
		err := error(nil)
		for err == nil {
			if err = f.Before(&b, []any{">1", "2"}); err == nil {
				err = f.After(&b, true)
			}
		}
		if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), fmt.Sprintf("more than %d million steps", MaxSteps/1_000_000)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Finding all matches is charged for each of them, and for what Go sets up each time; an expression that can match
// in few places only is cheap.
func TestMatchesAreCharged(t *testing.T) {
	lines := strings.Repeat("  endpoint = 0.0.0.0:4317\n", 4000)
	for _, c := range []struct {
		expr, in    string
		least, most float64 // steps for each byte
	}{
		{"a", strings.Repeat("a", 87_000), 4, 6},
		{"a", strings.Repeat("a", 4000), 1, 2},
		{"", strings.Repeat("a", 4000), 1, 2},
		{"a|b|" + strings.Repeat("(a)?", 40) + "c", strings.Repeat("a", 2000), 1, 40},
		{`[ \t]+(\r?\n)`, lines, 0.1, 0.7},
		{`#[^\n]*`, lines, 0.1, 0.5},
		{`\s+$`, lines, 0.1, 3},
		{"\\.", "web.example.com", 0, 5},
	} {
		var b Budget
		if err := guardFind(&b, []any{c.expr, c.in}, true); err != nil {
			t.Fatal(err)
		}
		if per := float64(b.Steps) / float64(len(c.in)); per < c.least || per > c.most {
			t.Errorf("%.40s in %.10q: %.2f steps for each byte, want %v to %v", c.expr, c.in, per, c.least, c.most)
		}
	}
}

// Classes that take long to parse are charged for it.
func TestLargeClassesAreCharged(t *testing.T) {
	for expr, least := range map[string]int{`(?i)\pL`: 200, `[\PL]`: 200, `(?i)[B-\x{1e943}]`: 40_000, `(?si)[B-𞥃]`: 40_000, `(?i)[a-z]`: 0, `[B-\x{1e943}]`: 0} {
		var b Budget
		if err := guardMatch(&b, []any{expr, "a"}); err != nil {
			t.Fatal(err)
		}
		if b.Steps < least || b.Steps > least+200 {
			t.Errorf("%s: %d steps, want %d", expr, b.Steps, least)
		}
	}
}

// What functions copy and decode takes memory by the number of its maps and lists, and what becomes text takes that of
// the text.
func TestMadeMemoryIsCharged(t *testing.T) {
	many := make([]any, 10_000)
	for i := range many {
		many[i] = map[string]any{"": 1}
	}
	for _, c := range []struct {
		name   string
		arg    any
		result any
		most   int
	}{
		{"deepCopy", many, many, 30},
		{"fromJsonArray", "[" + strings.Repeat(`{"":1},`, 9999) + `{"":1}]`, many, 30},
		{"fromYamlArray", strings.Repeat("- {}\n", 10_000), many, 30},
		{"toStrings", []any{make([]byte, 10<<20)}, []string{""}, 3},
	} {
		var b Budget
		f := FunctionOf(c.name, reflect.TypeOf(c.result))
		if c.name == "deepCopy" {
			f = FunctionOf(c.name, reflect.TypeFor[any]())
		}
		calls, err := 0, error(nil)
		for ; err == nil; calls++ {
			if err = f.Before(&b, []any{c.arg}); err == nil {
				err = f.After(&b, c.result)
			}
		}
		if calls-1 > c.most || b.Steps > MaxSteps {
			t.Errorf("%s can be called %d times, want at most %d (%d steps, %v)", c.name, calls-1, c.most, b.Steps, err)
		}
	}
}
