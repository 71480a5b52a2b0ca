package templating

import (
	"fmt"
	"reflect"
	"strconv"
)

// print writes the value of an action as text/template does.
func (s *state) print(v any) {
	switch v := v.(type) {
	case string:
		s.write(v)
		return
	case nil, absent:
		s.write(noValue)
		return
	case int:
		s.write(strconv.Itoa(v))
		return
	case bool:
		s.write(strconv.FormatBool(v))
		return
	}
	s.printed(v)
	if s.reads != nil {
		s.reads.Whole(v)
	}
	s.check(s.CheckSize(v))
	s.write(fmt.Sprint(printable(v)))
}

// printable returns the value to pass to fmt: pointers are followed, unless the pointer itself has
// a method for printing.
func printable(v any) any {
	rv := toReflect(v)
	if rv.Kind() == reflect.Pointer {
		rv, _ = indirect(rv)
	}
	if !rv.IsValid() {
		return noValue
	}
	if prints(rv.Type()) {
		return rv.Interface()
	}
	if rv.CanAddr() && prints(reflect.PointerTo(rv.Type())) {
		return rv.Addr().Interface()
	}
	return rv.Interface()
}

func prints(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[error]()) || t.Implements(reflect.TypeFor[fmt.Stringer]())
}
