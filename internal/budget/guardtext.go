package budget

import (
	"reflect"
	"strings"
	"unicode/utf8"
)

// guardOfText is guardOf for functions that make one text out of others.
func guardOfText(name string) guard {
	switch name {
	case "repeat":
		return func(b *Budget, a []any) error { return b.Room(product(number(a[0]), len(text(a[1])))) }
	case "indent", "nindent":
		return func(b *Budget, a []any) error {
			return b.Room(product(number(a[0]), strings.Count(text(a[1]), "\n")+1))
		}
	case "replace":
		return guardReplace
	case "join":
		return guardJoin
	case "wrap", "wrapWith":
		return guardWrap
	case "trimAll", "trimall":
		return guardTrim
	}
	return nil
}

func guardReplace(b *Budget, args []any) error {
	old, with, in := text(args[0]), text(args[1]), text(args[2])
	if len(with) <= len(old) {
		return nil
	}
	return b.Room(product(len(with), strings.Count(in, old)))
}

// guardTrim counts the comparisons of each character that may go with a set of characters, which Go looks
// up in a table only if they are all ASCII (strings.Trim).
func guardTrim(b *Budget, args []any) error {
	set, in := text(args[0]), text(args[1])
	if strings.IndexFunc(set, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return nil
	}
	return b.Step(product(len(set), len(in)) / trimmedBytes)
}

// trimmedBytes is how many bytes of a set of characters are searched in one step, at least.
const trimmedBytes = 256

func guardJoin(b *Budget, args []any) error {
	if err := weighAll(b, args); err != nil {
		return err
	}
	list := reflect.ValueOf(args[1])
	if list.Kind() != reflect.Slice && list.Kind() != reflect.Array {
		return nil
	}
	return b.Room(product(len(text(args[0])), list.Len()))
}

func guardWrap(b *Budget, args []any) error {
	width, separator := max(number(args[0]), 1), 1
	if len(args) == 3 {
		separator = len(text(args[1]))
	}
	return b.Room(product(len(text(args[len(args)-1]))/width+1, separator))
}
