package templating

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"text/template/parse"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/budget"
)

// measured is a call of a function: how long it takes, what it is charged, and how
// long it takes to use up the budget with such calls.
type measured struct {
	name, with  string
	call, whole time.Duration
	used        budget.Budget
}

// BenchmarkWeights calls every template function with many kinds of arguments and
// prints the costliest call of each: how long it takes to use up the budget with such
// calls. The weights in weights.go are chosen so that this is less than the time that
// docs/limits.md promises. Once is enough: -benchtime 1x.
func BenchmarkWeights(b *testing.B) {
	var all []measured
	for name := range newRegistry(&execution{}).names {
		if budget.KeyTime(name, []any{""}) > 0 {
			continue // see BenchmarkKeyTimes
		}
		worst := measured{name: name}
		for with, values := range argumentsToMeasure() {
			for _, swapped := range []bool{false, true} {
				if m, ok := measureCall(name, values, swapped); ok && m.whole > worst.whole {
					worst, worst.name, worst.with = m, name, with
				}
			}
		}
		all = append(all, worst)
	}
	slices.SortFunc(all, func(a, b measured) int { return int(b.whole - a.whole) })
	for _, m := range all {
		b.Logf("%9v  %-26s %-22q %v a call, %d steps, %d bytes", m.whole.Round(time.Millisecond), m.name, m.with, m.call, m.used.Steps, m.used.Bytes)
	}
}

// BenchmarkKeyTimes compares the time that keys take with what they are charged.
func BenchmarkKeyTimes(b *testing.B) {
	for _, kind := range []string{"rsa", "dsa", "ecdsa", "ed25519"} {
		f := newRegistry(&execution{}).get("genPrivateKey")
		const calls = 20
		began := processor()
		for range calls {
			if _, err := f.invoke([]any{kind}); err != nil {
				b.Fatal(err)
			}
		}
		b.Logf("genPrivateKey %-8s %v, charged %v", kind, (processor()-began)/calls, budget.KeyTime("genPrivateKey", []any{kind}))
	}
	const calls = 50
	f := newRegistry(&execution{}).get("genCA")
	began := processor()
	for range calls {
		if _, err := f.invoke([]any{"a", 365}); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("genCA %v, charged %v", (processor()-began)/calls, budget.KeyTime("genCA", []any{"a", 365}))
}

// argumentsToMeasure returns texts and values to try calls with.
func argumentsToMeasure() map[string][2]any {
	all := map[string][2]any{}
	for _, s := range []string{"a", "12", "1.4.5", ">=1.2.3-0 <2 || ~3", "1h30m", "2006-01-02", "https://u@example.com:80/a?b=c#d", "(a|b+)*c", "a: {b: [1]}", `{"a": [1]}`, "[[a]]\nb = 1"} {
		all[s] = [2]any{s, s}
	}
	for _, s := range []string{"a", "1", "é", ">1||", "A_b-c d", "1h", "a.", "- {a: b}\n", `"`, "*", "(a", "a\n"} {
		all["many "+s] = [2]any{"a", strings.Repeat(s, 20_000/len(s))}
		all["JSON of many "+s] = [2]any{"a", "[" + strings.Repeat("{\"a\": 1},", 2000) + "1]"}
	}
	all["a set of many é, and many b"] = [2]any{strings.Repeat("é", 10_000) + "b", strings.Repeat("b", 20_000)}
	table, list := map[string]any{}, []any{}
	for i := range 1000 {
		table[fmt.Sprint("key ", i)] = []any{i, "b"}
		list = append(list, i)
	}
	all["a table"] = [2]any{map[string]any{}, table}
	all["two tables"] = [2]any{table, table}
	all["a list"] = [2]any{1, list}
	all["whole numbers"] = [2]any{1, 2}
	all["numbers"] = [2]any{1.5, 2.5}
	all["little tables"] = [2]any{map[string]any{"a": 1}, map[string]any{"a": "b"}}
	all["a time"] = [2]any{"2006-01-02", time.Unix(1, 1)}
	all["a zone"] = [2]any{"Europe/Berlin", "2006-01-02"}
	return all
}

// Slow functions are charged for the time they take, whatever their arguments.
func TestSlowFunctionsAreCharged(t *testing.T) {
	many := map[string]any{}
	for i := range 1000 {
		many[fmt.Sprint(i)] = i
	}
	for name, c := range map[string]struct {
		args []any
		most int // calls in one render
	}{
		"derivePassword": {[]any{uint32(1), "long", "a", "b", "c"}, 50},
		"htpasswd":       {[]any{"a", "b"}, 167},
		"dateInZone":     {[]any{"2006", 1, "Europe/Berlin"}, 75_000},
		"semverCompare":  {[]any{">1", "2"}, 1_500_000},
		"regexMatch":     {[]any{"a", "b"}, 1_500_000},
		"trimAll":        {[]any{strings.Repeat("é", 20_000), strings.Repeat("b", 20_000)}, 10},
		"int":            {[]any{many}, 4000},
		"max":            {[]any{1, many}, 4000},
		"dict":           {[]any{many, 1}, 4000},
	} {
		e := newExecution(Options{})
		f := e.functions.get(name)
		f.invoke = func([]any) (any, error) { return 0, nil } // only the charge counts here
		s := e.newState(nil, &template{}, nil)
		s.node = &parse.NilNode{}
		calls := 0
		func() {
			defer func() { _ = recover() }()
			for ; calls <= c.most; calls++ {
				s.run(f, c.args)
			}
		}()
		if calls > c.most {
			t.Errorf("%s can be called more than %d times", name, c.most)
		}
	}
}

// measureCall measures a function. ok is false if it does not take such
// arguments, or ends the render.
func measureCall(name string, values [2]any, swapped bool) (m measured, ok bool) {
	e := newExecution(Options{})
	s := e.newState(nil, &template{}, nil)
	f := e.functions.get(name)
	if f == nil || f.special != nil {
		return m, false
	}
	args, ok := argumentsOf(f, values, swapped)
	if !ok {
		return m, false
	}
	s.node = &parse.NilNode{}
	call := func() (ok bool) {
		defer func() {
			if recover() != nil {
				ok = false
			}
		}()
		e.Budget = budget.Budget{Steps: 2} // the nodes around a call
		s.run(f, args)
		return true
	}
	calls := 1
	for took := time.Duration(0); took < 4*time.Millisecond; calls *= 2 {
		began := processor()
		for range calls {
			if !call() {
				return m, false
			}
		}
		took = processor() - began
		m.call = took / time.Duration(calls)
	}
	m.used = e.Budget
	m.whole = m.call * time.Duration(min(budget.MaxSteps/m.used.Steps, budget.MaxBytes/max(m.used.Bytes, 1)))
	return m, true
}

// processor returns the CPU time of this process so far, including garbage collection.
func processor() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func argumentsOf(f *function, values [2]any, swapped bool) ([]any, bool) {
	var args []any
	for i, p := range f.params {
		v := values[min(i, 1)]
		if len(f.params) == 1 || swapped {
			v = values[1-min(i, 1)]
		}
		switch p.kind {
		case paramAny, paramSame:
		case paramString:
			if _, is := v.(string); !is {
				return nil, false
			}
		case paramInt:
			v = 1
		case paramTable:
			if _, is := v.(map[string]any); !is {
				return nil, false
			}
		case paramOther:
			switch {
			case p.typ.Kind() == reflect.Slice && p.typ.Elem().Kind() == reflect.Interface:
				v = []any{v}
			case p.typ.ConvertibleTo(reflect.TypeFor[int]()):
				v = reflect.ValueOf(1).Convert(p.typ).Interface()
			default:
				return nil, false
			}
		}
		args = append(args, v)
	}
	return args, true
}

// TestWordsOfAllocatesNothing: the words of all templates of a chart are counted before they are parsed.
func TestWordsOfAllocatesNothing(t *testing.T) {
	text := strings.Repeat("{{ if .Values.a }}b{{ end }}\n", 100)
	if n := wordsOf(text); n != 400 {
		t.Errorf("%d words, want 400", n)
	}
	if n := testing.AllocsPerRun(10, func() { wordsOf(text) }); n > 0 {
		t.Errorf("counting words takes %.0f allocations", n)
	}
}
