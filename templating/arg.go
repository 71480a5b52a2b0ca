package templating

import (
	"reflect"
	"text/template/parse"
)

// arg evaluates one argument for a parameter.
func (s *state) arg(dot any, n parse.Node, p param) any {
	s.node = n
	none := site{node: n}
	switch n := n.(type) {
	case *parse.DotNode:
		return s.valid(dot, p)
	case *parse.NilNode:
		if !p.takesNil() {
			s.fail("nil can't be used where %s is needed", typeName(p.typ))
		}
		return nil
	case *parse.FieldNode:
		return s.valid(s.fields(dot, dot, n.Ident, none), p)
	case *parse.VariableNode:
		if p.copied && len(n.Ident) == 1 {
			return s.valid(s.find(n.Ident[0]).value, p)
		}
		return s.valid(s.variableField(dot, n, nil, piped{}), p)
	case *parse.PipeNode:
		return s.valid(s.pipeline(dot, n), p)
	case *parse.IdentifierNode:
		return s.valid(unwrapNil(s.function(dot, n, none)), p)
	case *parse.ChainNode:
		return s.valid(s.chain(dot, n, nil, piped{}), p)
	}
	return s.constant(dot, n, p)
}

// constant converts a literal to the parameter's type.
func (s *state) constant(dot any, n parse.Node, p param) any {
	if p.kind == paramAny || p.kind == paramSame {
		return s.literal(dot, n)
	}
	number, isNumber := n.(*parse.NumberNode)
	switch v := reflect.New(p.typ).Elem(); {
	case p.kind == paramString:
		if text, ok := n.(*parse.StringNode); ok {
			return text.Text
		}
	case p.kind == paramInt && isNumber && number.IsInt:
		return int(number.Int64)
	case v.CanInt() && isNumber && number.IsInt:
		v.SetInt(number.Int64)
		return v.Interface()
	case v.CanUint() && isNumber && number.IsUint:
		v.SetUint(number.Uint64)
		return v.Interface()
	case v.CanFloat() && isNumber && number.IsFloat:
		v.SetFloat(number.Float64)
		return v.Interface()
	case v.Kind() == reflect.Bool:
		if b, ok := n.(*parse.BoolNode); ok {
			return b.True
		}
	}
	s.fail("%s can't be used where %s is needed", n, typeName(p.typ))
	return nil
}

func (p param) takesNil() bool {
	switch p.kind {
	case paramAny, paramSame, paramTable:
		return true
	case paramOther:
		switch p.typ.Kind() {
		case reflect.Chan, reflect.Func, reflect.Interface, reflect.Map, reflect.Pointer, reflect.Slice:
			return true
		}
	case paramString, paramInt:
	}
	return false
}

// valid returns the value as an argument for the parameter. It ends the render if the type is
// assignable neither directly nor through one pointer.
func (s *state) valid(v any, p param) any {
	if p.kind == paramSame {
		return unwrapNil(v)
	}
	switch x := v.(type) {
	case nil:
		if !p.takesNil() {
			s.fail("the value is missing (nil) where %s is needed", typeName(p.typ))
		}
		return nil
	case absent: // absent counts as an any, which only parameters of type any accept
		if p.kind != paramAny {
			s.fail("the value is missing (nil) where %s is needed", typeName(p.typ))
		}
		return nil
	case string:
		if p.kind == paramString {
			return v
		}
	case int:
		if p.kind == paramInt {
			return v
		}
	case map[string]any:
		if p.kind == paramTable {
			return v
		}
	case Values:
		if p.kind == paramTable {
			return map[string]any(x)
		}
	case member:
		if p.kind == paramAny {
			return x.value.Interface()
		}
	}
	if p.kind == paramAny {
		return v
	}
	return s.assignable(v, p)
}

func (s *state) assignable(v any, p param) any {
	rv := toReflect(v)
	t := rv.Type()
	switch {
	case t.AssignableTo(p.typ):
		return rv.Convert(p.typ).Interface()
	case rv.Kind() == reflect.Pointer && t.Elem().AssignableTo(p.typ):
		if rv.IsNil() {
			s.fail("the value is nil where %s is needed", typeName(p.typ))
		}
		return rv.Elem().Interface()
	case reflect.PointerTo(t).AssignableTo(p.typ) && rv.CanAddr():
		return rv.Addr().Interface()
	}
	s.fail("%s is needed here, but the value is %s", typeName(p.typ), typeName(t))
	return nil
}

// typeName describes a Go type in words if possible, else as templates see it.
func typeName(t reflect.Type) string {
	of := ""
	if k := t.Kind(); (k == reflect.Map || k == reflect.Slice) && t.Elem().Kind() == reflect.String {
		of = " of texts"
	}
	switch {
	case t.Kind() == reflect.Map:
		return "a map" + of
	case t.Kind() == reflect.Slice:
		return "a list" + of
	case t.Kind() == reflect.String:
		return "text"
	case t.Kind() == reflect.Bool:
		return "a boolean"
	case reflect.Zero(t).CanInt(), reflect.Zero(t).CanUint():
		return "a whole number"
	case reflect.Zero(t).CanFloat():
		return "a number"
	}
	return typeNames.Replace(t.String())
}
