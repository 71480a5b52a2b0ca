package templating

import (
	"reflect"
	"text/template/parse"
)

// site is where a field or function is used: its node, its arguments (the first is the name itself;
// nil for none) and what is piped into it.
type site struct {
	node  parse.Node
	args  []parse.Node
	final piped
}

func (c site) hasArgs() bool { return len(c.args) > 1 || c.final.given() }

// member is a struct field reached through a pointer. It keeps the methods of its pointer type,
// which a copy would lose; .Capabilities.KubeVersion would print differently.
type member struct{ value reflect.Value }

// fields follows .A.B.C from receiver. If the last one is a method, it gets the arguments.
func (s *state) fields(dot, receiver any, path []string, c site) any {
	last := len(path) - 1
	for _, name := range path[:last] {
		receiver = s.field(dot, receiver, name, site{node: c.node})
	}
	return s.field(dot, receiver, path[last], c)
}

// field reads one field, key or method of receiver.
func (s *state) field(dot, receiver any, name string, c site) any {
	switch r := receiver.(type) {
	case map[string]any:
		return s.entry(r, name, c)
	case Values:
		if !isValuesMethod(name) {
			return s.entry(r, name, c)
		}
		if s.reads != nil && name != "AsMap" {
			s.reads.Whole(r)
		}
		if name == "YAML" || name == "Encode" {
			s.check(s.WriteSlowly(r))
		}
	case VersionSet:
		if name == "Has" && len(s.options.Undiscovered) > 0 {
			return s.call(dot, r.hasMethod(s.options.Undiscovered), c)
		}
	case Files:
		if f := r.method(s.execution, name); f != nil {
			return s.call(dot, f, c)
		}
	case nil:
		if s.options.Strict {
			s.node = c.node
			s.fail("there is no value to read .%s from", name)
		}
		return nil
	case absent:
		s.nilField(dot, name, c)
	}
	return s.reflectField(dot, receiver, name, c)
}

func isValuesMethod(name string) bool {
	switch name {
	case "YAML", "AsMap", "Encode", "Table", "PathValue":
		return true
	}
	return false
}

// entry reads a key of a table.
func (s *state) entry(m map[string]any, name string, c site) any {
	if c.hasArgs() {
		s.node = c.node
		s.fail("%s is a value, not a function, so it takes no arguments", name)
	}
	if s.reads != nil {
		s.reads.Key(m, name)
	}
	v, ok := m[name]
	if !ok && s.options.Strict {
		s.missingKey(m, name, c)
	}
	return wrapNil(v)
}

// reflectField calls a method, or reads a struct field or map key, of a value of any other type.
func (s *state) reflectField(dot, receiver any, name string, c site) any {
	v := toReflect(receiver)
	typ := v.Type()
	v, isNil := indirect(v)
	bound := v
	if bound.Kind() != reflect.Interface && bound.Kind() != reflect.Pointer && bound.CanAddr() {
		bound = bound.Addr()
	}
	if method := bound.MethodByName(name); method.IsValid() {
		return s.call(dot, newFunction(name, method), c)
	}
	s.node = c.node
	switch v.Kind() {
	case reflect.Struct:
		if f, ok := v.Type().FieldByName(name); ok && f.IsExported() {
			if c.hasArgs() {
				s.fail("%s is a value, not a function, so it takes no arguments", name)
			}
			value, err := v.FieldByIndexErr(f.Index)
			s.check(err)
			return fromReflect(value)
		}
	case reflect.Map:
		if reflect.TypeFor[string]().AssignableTo(v.Type().Key()) {
			return s.reflectEntry(v, name, c)
		}
	}
	if isNil {
		s.fail("the value is nil, so .%s can't be read from it", name)
	}
	if at, ok := before(c.node, name); ok && isScalar(receiver) {
		s.fail("%s is %s, not a map, so .%s can't be read from it", at, inWords(receiver), name)
	}
	s.fail("a value of type %s has no field %s", typ, name)
	return nil
}

func (s *state) reflectEntry(m reflect.Value, name string, c site) any {
	if c.hasArgs() {
		s.fail("%s is a value, not a function, so it takes no arguments", name)
	}
	v := m.MapIndex(reflect.ValueOf(name))
	if v.IsValid() {
		return fromReflect(v)
	}
	if s.options.Strict {
		s.fail("there is no key %q", name)
	}
	return fromReflect(reflect.Zero(m.Type().Elem()))
}

func toReflect(v any) reflect.Value {
	switch v := v.(type) {
	case member:
		return v.value
	case absent:
		return reflect.Zero(reflect.TypeFor[any]())
	}
	return reflect.ValueOf(v)
}

func fromReflect(v reflect.Value) any {
	switch {
	case !v.IsValid():
		return nil
	case v.Kind() == reflect.Interface && v.IsNil():
		return absent{}
	case v.Kind() == reflect.Struct && v.CanAddr():
		return member{v}
	}
	return v.Interface()
}

// indirect follows pointers and interfaces; isNil says that one of them was nil.
func indirect(v reflect.Value) (_ reflect.Value, isNil bool) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return v, true
		}
		v = v.Elem()
	}
	return v, false
}
