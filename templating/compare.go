package templating

import (
	"errors"
	"fmt"
	"reflect"
)

// Comparisons follow text/template: integers of any size and sign compare with each other, but not
// with floats, and different kinds are an error (text/template/funcs.go, eq and lt).

// equalsAny reports whether a == b || a == c …
func equalsAny(a any, others ...any) (bool, error) {
	if len(others) == 0 {
		return false, errors.New("there is nothing to compare with")
	}
	for _, b := range others {
		if equal, err := equals(a, b); equal || err != nil {
			return equal, err
		}
	}
	return false, nil
}

func equals(a, b any) (bool, error) {
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			return x == y, nil
		}
	case int:
		if y, ok := b.(int); ok {
			return x == y, nil
		}
	case bool:
		if y, ok := b.(bool); ok {
			return x == y, nil
		}
	}
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	kx, ky := kindOf(x), kindOf(y)
	switch {
	case kx == integer && ky == unsigned:
		return x.Int() >= 0 && uint64(x.Int()) == y.Uint(), nil
	case kx == unsigned && ky == integer:
		return y.Int() >= 0 && x.Uint() == uint64(y.Int()), nil
	case kx != ky:
		if x.IsValid() && y.IsValid() {
			return false, incompatible(x, y)
		}
		return false, nil
	case kx == composite:
		return equalComposite(x, y)
	}
	return x.Equal(y.Convert(x.Type())), nil
}

// equalComposite compares values without an order: nils of any type, and comparable values.
func equalComposite(x, y reflect.Value) (bool, error) {
	if x.Kind() != y.Kind() && x.IsValid() && y.IsValid() {
		return false, incompatible(x, y)
	}
	if isNilValue(x) || isNilValue(y) {
		return isNilValue(x) == isNilValue(y), nil
	}
	if !y.Type().Comparable() {
		return false, fmt.Errorf("values of type %s can't be compared", y.Type())
	}
	return x.Interface() == y.Interface(), nil
}

func isNilValue(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Chan, reflect.Func, reflect.Interface, reflect.Map, reflect.Pointer, reflect.Slice:
		return v.IsNil()
	}
	return false
}

func less(a, b any) (bool, error) {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	kx, ky := kindOf(x), kindOf(y)
	switch {
	case kx == integer && ky == unsigned:
		return x.Int() < 0 || uint64(x.Int()) < y.Uint(), nil
	case kx == unsigned && ky == integer:
		return y.Int() >= 0 && x.Uint() < uint64(y.Int()), nil
	case kx != ky && kx != composite && ky != composite:
		return false, incompatible(x, y)
	case kx == integer && ky == integer:
		return x.Int() < y.Int(), nil
	case kx == unsigned && ky == unsigned:
		return x.Uint() < y.Uint(), nil
	case kx == float && ky == float:
		return x.Float() < y.Float(), nil
	case kx == words && ky == words:
		return x.String() < y.String(), nil
	}
	return false, fmt.Errorf("%s and %s can't be ordered", typeOf(a), typeOf(b))
}

func lessOrEqual(a, b any) (bool, error) {
	if lt, err := less(a, b); lt || err != nil {
		return lt, err
	}
	return equals(a, b)
}

func incompatible(x, y reflect.Value) error {
	return fmt.Errorf("%s can't be compared with %s", x.Type(), y.Type())
}

type kind int

const (
	composite kind = iota
	boolean
	integer
	unsigned
	float
	complexNumber
	words
)

func kindOf(v reflect.Value) kind {
	switch {
	case !v.IsValid():
		return composite
	case v.Kind() == reflect.Bool:
		return boolean
	case v.CanInt():
		return integer
	case v.CanUint():
		return unsigned
	case v.CanFloat():
		return float
	case v.CanComplex():
		return complexNumber
	case v.Kind() == reflect.String:
		return words
	}
	return composite
}
