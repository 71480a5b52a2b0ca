package templating

import (
	"maps"
	"reflect"

	"github.com/Masterminds/sprig/v3"

	"github.com/kubectl-release/kubectl-release/internal/budget"
)

// registry holds the functions that templates can call.
type registry struct {
	// names is what the parser gets; the values are the raw Go functions.
	names map[string]any
	ready map[string]*function
	// recalls says that results are shared with other renders, see Recall.
	recalls bool
}

func newRegistry(e *execution) *registry {
	r := &registry{names: rawFunctions(&e.Budget), ready: map[string]*function{}, recalls: e.options.Recall != nil}
	e.CountMerges(r.names)
	if !e.options.DNS {
		r.names["getHostByName"] = func(string) string { return "" }
	}
	if search, ok := r.names["mustHas"].(func(any, any) (bool, error)); ok && len(e.options.Undiscovered) > 0 {
		r.names["mustHas"] = hasFunction(e.options.Undiscovered, search)
		r.names["has"] = r.names["mustHas"]
	}
	r.special("include", func(s *state, args []any) any { return s.include(args) }, "", nil)
	r.special("tpl", func(s *state, args []any) any { return s.tpl(args) }, "", nil)
	r.special("required", func(s *state, args []any) any { return s.required(args) }, "", nil)
	r.special("fail", func(s *state, args []any) any { return s.refuse(args[0].(string)) }, "")
	r.special("lookup", func(s *state, args []any) any { return s.lookup(args) }, "", "", "", "")
	return r
}

// special adds a function that needs the state. kinds are its parameters: "" for a string, nil for
// anything.
func (r *registry) special(name string, run func(*state, []any) any, kinds ...any) {
	f := &function{name: name, special: run}
	for _, k := range kinds {
		p := anyParam()
		if k != nil {
			p = newParam(reflect.TypeFor[string]())
		}
		f.params = append(f.params, p)
	}
	r.names[name] = run
	r.ready[name] = f
}

// get returns the function with a name, or nil.
func (r *registry) get(name string) *function {
	if f, ok := r.ready[name]; ok {
		return f
	}
	raw, ok := r.names[name]
	if !ok {
		return nil
	}
	f := newFunction(name, reflect.ValueOf(raw))
	f.cost = budget.FunctionOf(name, reflect.TypeOf(raw).Out(0))
	f.varies = r.recalls && varies(name)
	for i := range f.params {
		f.params[i].copied = copies(name, i, reflect.TypeOf(raw).Out(0))
	}
	f.gathers = gathers(name)
	r.ready[name] = f
	return f
}

// gathers reports whether a function makes a longer text or list of what it is given. What it copies is counted
// in steps, so that its results may become garbage and no longer count (action).
func gathers(name string) bool {
	switch name {
	case "print", "println", "printf", "cat", "concat", "append", "mustAppend", "push", "mustPush", "prepend", "mustPrepend":
		return true
	}
	return false
}

// copies reports whether a function does not keep what it is given for a parameter.
func copies(name string, parameter int, result reflect.Type) bool {
	switch result.Kind() {
	case reflect.Bool, reflect.Int:
		return true
	case reflect.String:
		return gathers(name)
	}
	return gathers(name) && (parameter == 0 || name == "concat")
}

// rawFunctions returns Go's functions, sprig's without those that read the environment, and Helm's
// (Helm 4.3.1, pkg/engine/funcs.go, funcMap). A later set replaces functions of an earlier one.
func rawFunctions(b *budget.Budget) map[string]any {
	all := builtinFunctions()
	sprigs := sprig.TxtFuncMap()
	delete(sprigs, "env")
	delete(sprigs, "expandenv")
	maps.Copy(all, sprigs)
	if theirs, ok := all["mustDeepCopy"].(func(any) (any, error)); ok {
		all["deepCopy"], all["mustDeepCopy"] = newCopier(theirs), newCopier(theirs)
	}
	maps.Copy(all, orderedFunctions())
	maps.Copy(all, encodingFunctions(b))
	maps.Copy(all, durationFunctions())
	return all
}

// orderedFunctions replace sprig's functions that return map entries in random order, so that
// renders are reproducible, and those that name types, so that the names are Helm's.
func orderedFunctions() map[string]any {
	return map[string]any{
		"keys": func(tables ...map[string]any) []string {
			keys := []string{}
			for _, t := range tables {
				keys = append(keys, sortedKeys(t)...)
			}
			return keys
		},
		"values": func(t map[string]any) []any {
			values := []any{}
			for _, k := range sortedKeys(t) {
				values = append(values, t[k])
			}
			return values
		},
		"typeOf":     typeOf,
		"typeIs":     func(name string, v any) bool { return name == typeOf(v) },
		"typeIsLike": func(name string, v any) bool { return name == typeOf(v) || "*"+name == typeOf(v) },
	}
}
