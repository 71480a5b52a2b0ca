package templating

// call notes what a function reads of its arguments. Functions that hand their
// arguments on, or look only at what kind they are, read nothing; those that
// are asked for a key read that key; all others read everything.
func (r *reads) call(name string, args []any) {
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
			r.level(t)
		}
	case "merge", "mustMerge", "mergeOverwrite", "mustMergeOverwrite":
		r.merge(args, 0)
	case "deepCopy", "mustDeepCopy", "omit", "pick":
		// What they copy is not read yet: see copied.
	default:
		for _, a := range args {
			r.whole(a, 0)
		}
	}
}

func (r *reads) named(v, key any) {
	name, isText := key.(string)
	if t, ok := asTable(v); ok && isText {
		r.key(t, name)
	}
}

// path is a walk by keys and indices.
func (r *reads) path(v any, keys []any) {
	for _, key := range keys {
		r.named(v, key)
		switch at := v.(type) {
		case map[string]any:
			v = at[text(key)]
		case Values:
			v = at[text(key)]
		case []any:
			i, err := position(key, len(at))
			if err != nil {
				return
			}
			v = at[i]
		default:
			return
		}
	}
}

// copied notes whose copy the result of a function is.
func (r *reads) copied(name string, args []any, result any) {
	switch name {
	case "deepCopy", "mustDeepCopy":
		r.mirror(result, args[0], 0)
	case "omit", "pick":
		if t, ok := asTable(result); ok {
			r.stand(t, args[0])
		}
	}
}

// stand makes reads of t reads of what was watched of from, too.
func (r *reads) stand(t map[string]any, from any) {
	if f, ok := asTable(from); ok {
		r.add(t, r.tables[identity(f)]...)
	}
}

// mirror is stand for a value and its copy, all the way down.
func (r *reads) mirror(result, from any, depth int) {
	if list, ok := from.([]any); ok {
		again, _ := result.([]any)
		for i := 0; i < len(list) && i < len(again) && r.spend(1, depth); i++ {
			r.mirror(again[i], list[i], depth+1)
		}
		return
	}
	f, isTable := asTable(from)
	t, same := asTable(result)
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
func (r *reads) merge(args []any, depth int) {
	into, ok := asTable(args[0])
	if !ok {
		return
	}
	for i, arg := range args[1:] {
		from, ok := asTable(arg)
		if !ok || !r.spend(len(from), depth) {
			continue
		}
		r.stand(into, from)
		for key, v := range from {
			// The first table under key is where those of later ones go.
			if at := firstTable(args[:i+1], key); at != nil {
				r.merge([]any{at, v}, depth+1)
			}
		}
	}
}

func firstTable(args []any, key string) any {
	for _, a := range args {
		t, _ := asTable(a)
		if _, ok := asTable(t[key]); ok {
			return t[key]
		}
	}
	return nil
}
