package keyuse

import "reflect"

// Call records what a template function reads of its arguments. Functions that pass
// their arguments on, or look only at their type, read nothing; those that look up a
// key read that key; all others read everything.
func (r *Reads) Call(name string, args []any) {
	switch name {
	case "default", "coalesce", "ternary", "dict", "list", "tuple", "set", "empty", "not", "all", "any",
		"kindOf", "kindIs", "typeOf", "typeIs", "typeIsLike",
		"first", "mustFirst", "last", "mustLast", "rest", "mustRest", "initial", "mustInitial",
		"append", "mustAppend", "push", "mustPush", "prepend", "mustPrepend",
		"concat", "reverse", "mustReverse", "compact", "mustCompact", "slice", "mustSlice":
	case "get", "hasKey", "unset":
		r.named(args[0], args[1])
	case "pluck":
		for _, t := range args[1:] {
			r.named(t, args[0])
		}
	case "index":
		r.path(args[0], args[1:])
	case "dig":
		if n := len(args); n > 2 {
			r.path(args[n-1], args[:n-2])
		}
	case "keys", "values", "len":
		for _, t := range args {
			r.Level(t)
		}
	case "merge", "mustMerge", "mergeOverwrite", "mustMergeOverwrite":
		r.merge(args, 0)
	case "deepCopy", "mustDeepCopy", "omit", "pick":
		// What they copy is not read yet: see Copied.
	default:
		for _, a := range args {
			r.whole(a, 0)
		}
	}
}

func (r *Reads) named(v, key any) {
	name, isText := key.(string)
	if t, ok := table(v); ok && isText {
		r.Key(t, name)
	}
}

// path walks from v by keys and indices, recording each key.
func (r *Reads) path(v any, keys []any) {
	for _, key := range keys {
		r.named(v, key)
		if t, ok := table(v); ok {
			name, _ := key.(string)
			v = t[name]
			continue
		}
		list, _ := v.([]any)
		i, ok := index(key)
		if !ok || i < 0 || i >= len(list) {
			return
		}
		v = list[i]
	}
}

// index returns key as an int if it is a whole number.
func index(key any) (int, bool) {
	switch k := reflect.ValueOf(key); {
	case k.IsValid() && k.CanInt():
		return int(k.Int()), true
	case k.IsValid() && k.CanUint():
		return int(k.Uint()), true // a wrapped number is out of range
	}
	return 0, false
}

// Copied records that the result of a copying function stands for its argument: reads of the one count
// for the other.
func (r *Reads) Copied(name string, args []any, result any) {
	switch name {
	case "deepCopy", "mustDeepCopy":
		r.mirror(result, args[0], 0)
	case "omit", "pick":
		if t, ok := table(result); ok {
			r.stand(t, args[0])
		}
	}
}

// stand makes reads of t count as reads of the watched tables that from stands for, too.
func (r *Reads) stand(t map[string]any, from any) {
	if f, ok := table(from); ok {
		r.add(t, r.tables[identity(f)]...)
	}
}

// mirror is stand for a value and its copy, all the way down.
func (r *Reads) mirror(result, from any, depth int) {
	if list, ok := from.([]any); ok {
		again, _ := result.([]any)
		for i := 0; i < len(list) && i < len(again) && r.spend(1, depth); i++ {
			r.mirror(again[i], list[i], depth+1)
		}
		return
	}
	f, isTable := table(from)
	t, same := table(result)
	if !isTable || !same || !r.spend(len(f), depth) {
		return
	}
	r.stand(t, f)
	for key, v := range f {
		r.mirror(t[key], v, depth+1)
	}
}

// merge copies the keys of later tables into the first. A table that the first
// one lacks is not copied but shared.
func (r *Reads) merge(args []any, depth int) {
	into, ok := table(args[0])
	if !ok {
		return
	}
	for i, arg := range args[1:] {
		from, ok := table(arg)
		if !ok || !r.spend(len(from), depth) {
			continue
		}
		r.stand(into, from)
		for key, v := range from {
			// Later tables under key are merged into the first one.
			if at := firstTable(args[:i+1], key); at != nil {
				r.merge([]any{at, v}, depth+1)
			}
		}
	}
}

func firstTable(args []any, key string) any {
	for _, a := range args {
		t, _ := table(a)
		if _, ok := table(t[key]); ok {
			return t[key]
		}
	}
	return nil
}
