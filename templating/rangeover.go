package templating

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"text/template/parse"
)

// rangeOver executes {{ range }}. Maps are walked in the order of their keys and as they were at
// the start; changes to a list during the loop are seen.
func (s *state) rangeOver(dot any, node *parse.RangeNode) flow {
	mark := len(s.vars)
	value := s.pipeline(dot, node.Pipe)
	loop := &loop{state: s, node: node, mark: len(s.vars)}
	f := onward
	if !loop.over(value) {
		f = s.list(dot, node.ElseList) // here, too, the range's variables have the pipeline's value
	}
	s.vars = s.vars[:mark]
	return f
}

// loop is one execution of a range.
type loop struct {
	*state
	node   *parse.RangeNode
	mark   int
	leaves bool
}

// over runs the body for each element and reports whether there was one.
func (l *loop) over(value any) bool {
	switch v := value.(type) {
	case nil, absent:
		return false
	case []any:
		for i := 0; i < len(v) && !l.leaves; i++ {
			l.body(i, wrapNil(v[i]))
		}
		return len(v) > 0
	case map[string]any:
		return l.overTable(v)
	case Values:
		return l.overTable(v)
	case []string:
		for i := 0; i < len(v) && !l.leaves; i++ {
			l.body(i, v[i])
		}
		return len(v) > 0
	}
	return l.overReflect(toReflect(value))
}

func (l *loop) overTable(m map[string]any) bool {
	if l.reads != nil {
		l.reads.Level(m)
	}
	l.check(l.Step(len(m)))
	keys := sortedKeys(m)
	values := make([]any, len(keys))
	for i, k := range keys {
		values[i] = m[k]
	}
	for i := 0; i < len(keys) && !l.leaves; i++ {
		l.body(keys[i], wrapNil(values[i]))
	}
	return len(keys) > 0
}

func (l *loop) overReflect(v reflect.Value) bool {
	v, _ = indirect(v)
	switch {
	case v.CanInt() || v.CanUint():
		return l.overNumber(v)
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
		for i := 0; i < v.Len() && !l.leaves; i++ {
			l.body(i, fromReflect(v.Index(i)))
		}
		return v.Len() > 0
	case v.Kind() == reflect.Map:
		l.check(l.Step(v.Len()))
		entries := sortedEntries(v)
		for i := 0; i < len(entries) && !l.leaves; i++ {
			l.body(fromReflect(entries[i].key), fromReflect(entries[i].value))
		}
		return len(entries) > 0
	case !v.IsValid() || v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface:
		return false
	}
	l.state.node = l.node.Pipe
	l.fail("range can't iterate over a value of type %s", v.Type())
	return false
}

// overNumber counts from 0 to v-1.
func (l *loop) overNumber(v reflect.Value) bool {
	if len(l.node.Pipe.Decl) > 1 {
		l.fail("range over a number allows only one variable")
	}
	ran := false
	for n := range v.Seq() {
		if l.leaves {
			break
		}
		ran = true
		l.body(nil, n.Interface())
	}
	return ran
}

// body runs the body once.
func (l *loop) body(key, value any) {
	if err := l.Step(1); err != nil {
		l.check(err)
	}
	decl := l.node.Pipe.Decl
	if l.node.Pipe.IsAssign {
		if len(decl) > 1 {
			l.assign(decl[0].Ident[0], key)
			l.assign(decl[1].Ident[0], value)
		} else if len(decl) == 1 {
			l.assign(decl[0].Ident[0], value)
		}
	} else if n := len(decl); n > 0 {
		l.vars[l.mark-1].value = value
		if n > 1 {
			l.vars[l.mark-2].value = key
		}
	}
	if f := l.list(value, l.node.List); f == breaks {
		l.leaves = true
	}
	l.vars = l.vars[:l.mark]
}

type entry struct{ key, value reflect.Value }

// sortedEntries returns a map's entries in text/template's order.
func sortedEntries(m reflect.Value) []entry {
	entries := make([]entry, 0, m.Len())
	for it := m.MapRange(); it.Next(); {
		entries = append(entries, entry{it.Key(), it.Value()})
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return compareKeys(a.key, b.key) })
	return entries
}

func compareKeys(a, b reflect.Value) int {
	a, _ = indirect(a)
	b, _ = indirect(b)
	switch {
	case a.Kind() == reflect.String && b.Kind() == reflect.String:
		return cmp.Compare(a.String(), b.String())
	case a.CanInt() && b.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.CanUint() && b.CanUint():
		return cmp.Compare(a.Uint(), b.Uint())
	case a.CanFloat() && b.CanFloat():
		return cmp.Compare(a.Float(), b.Float())
	case a.Kind() == reflect.Bool && b.Kind() == reflect.Bool && a.Bool() != b.Bool():
		if a.Bool() {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(a.Kind(), b.Kind()), cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
}
