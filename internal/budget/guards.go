package budget

import (
	"errors"
	"reflect"
	"strings"
)

// guard refuses a call that would use more than the budget has left. It runs
// before the function, which is sprig's or Go's and knows no limits.
type guard func(b *Budget, args []any) error

// guardOf returns the guard of the template function with that name; nil for most,
// which need nothing beyond what every call counts. A guard's arguments are those of
// the call, with the types of the function's parameters.
func guardOf(name string) guard {
	for _, of := range []func(string) guard{guardOfWeigher, guardOfText, guardOfRegex, guardOfMaker, guardOfKeys, guardOfReader} {
		if g := of(name); g != nil {
			return g
		}
	}
	return nil
}

// guardOfWeigher is guardOf for functions that walk a value to its leaves.
func guardOfWeigher(name string) guard {
	if countsOn(name) {
		return weighBy(8, 0)
	}
	switch name {
	case "toYaml", "mustToYaml":
		return weighBy(2, 4) // WriteSlowly counts the rest
	case "toYamlPretty", "toToml", "mustToToml":
		return weighBy(10, 4)
	case "toJson", "mustToJson", "toPrettyJson", "mustToPrettyJson", "toRawJson", "mustToRawJson":
		return weighBy(2, 6)
	case "deepCopy", "mustDeepCopy":
		return weighBy(4, 1)
	case "quote", "squote", "html", "js", "urlquery":
		return weighBy(2, 6)
	case "toString":
		return weighBy(3, 1)
	case "toStrings", "sortAlpha":
		return guardStrings
	case "cat", "print", "println":
		return weighCopied(3, 1)
	case "dict":
		return guardDict
	case "deepEqual", "eq", "ne":
		return weighCopied(1, 1)
	case "has", "mustHas", "uniq", "mustUniq", "without", "mustWithout":
		return func(b *Budget, a []any) error { return guardSearch(b, name, a) }
	case "set":
		return func(b *Budget, a []any) error { return b.Made(64 + len(text(a[1]))) }
	case "printf":
		return guardPrintf
	}
	return nil
}

// guardStrings counts the text that other items than texts become; texts are not copied (sprig v3,
// strings.go, strslice).
func guardStrings(b *Budget, args []any) error {
	if err := weighBy(2, 1)(b, args); err != nil {
		return err
	}
	list, ok := args[0].([]any)
	if _, texts := args[0].([]string); !ok && !texts {
		list = []any{args[0]}
	}
	size := 0
	for _, item := range list {
		if _, text := item.(string); text {
			continue
		}
		n, err := b.measure(item)
		if err != nil {
			return err
		}
		size += n
	}
	return b.Made(size)
}

// guardDict weighs the keys, which become text whatever they are.
func guardDict(b *Budget, args []any) error {
	keys := make([]any, 0, len(args)/2+1)
	for i := 0; i < len(args); i += 2 {
		keys = append(keys, args[i])
	}
	return weighBy(8, 1)(b, keys)
}

// guardOfMaker is guardOf for functions that make lists.
func guardOfMaker(name string) guard {
	switch name {
	case "until":
		return func(_ *Budget, a []any) error { return items(number(a[0])) }
	case "untilStep":
		return func(_ *Budget, a []any) error { return guardSteps(number(a[0]), number(a[1]), number(a[2])) }
	case "seq":
		return guardSeq
	case "split", "splitn", "splitList":
		return guardSplit
	case "concat", "append", "mustAppend", "push", "mustPush", "prepend", "mustPrepend", "reverse", "mustReverse",
		"rest", "mustRest", "initial", "mustInitial", "compact", "mustCompact", "chunk", "mustChunk":
		return func(b *Budget, a []any) error { return guardLists(b, name, a) }
	}
	return nil
}

// guardOfKeys is guardOf for functions that make keys, hash passwords and make random text.
func guardOfKeys(name string) guard {
	switch name {
	case "randAlphaNum", "randAlpha", "randAscii", "randNumeric":
		return func(b *Budget, a []any) error {
			return errors.Join(b.Room(product(1, number(a[0]))), b.Step(product(randomSteps, number(a[0]))))
		}
	case "randBytes":
		return func(b *Budget, a []any) error { return b.Room(product(2, number(a[0]))) }
	case "genPrivateKey", "genCA", "genCAWithKey", "genSelfSignedCert", "genSelfSignedCertWithKey",
		"genSignedCert", "genSignedCertWithKey", "buildCustomCert", "bcrypt", "htpasswd", "derivePassword":
		return func(b *Budget, a []any) error { return b.key(KeyTime(name, a)) }
	}
	return nil
}

// makesMemory reports whether a function's result is new memory. Functions that
// pass on what they were given (default, get, ternary …) have results of type any
// and are not counted.
func makesMemory(name string, result reflect.Type) bool {
	switch name {
	case "concat":
		return true
	case "set", "unset":
		return false
	}
	switch result.Kind() {
	case reflect.String, reflect.Slice, reflect.Map:
		return true
	}
	return false
}

// nestsMemory reports whether all lists and maps within a function's result are new.
func nestsMemory(name string) bool {
	switch name {
	case "deepCopy", "mustDeepCopy", "fromYaml", "fromYamlArray", "fromJson", "fromJsonArray", "mustFromJson", "fromToml":
		return true
	}
	return false
}

// items returns an error if a list of n items would be too long.
func items(n int) error {
	if n > maxItems || n < -maxItems {
		return errItems
	}
	return nil
}

// guardSteps returns an error if counting from start to stop gives too many items.
func guardSteps(start, stop, step int) error {
	if step == 0 {
		return nil
	}
	span := float64(stop) - float64(start)
	if n := span / float64(step); n > maxItems {
		return errItems
	}
	return nil
}

func guardSeq(b *Budget, args []any) error {
	n := make([]int, len(args))
	for i, a := range args {
		n[i] = number(a)
	}
	switch len(n) {
	case 1:
		return errors.Join(items(n[0]), b.Room(8*abs(n[0])))
	case 2:
		return items(abs(n[1] - n[0]))
	case 3:
		return guardSteps(n[0], n[2], n[1])
	}
	return nil
}

func abs(n int) int { return max(n, -n) }

// guardLists counts the items, which take twice as long if each has to become a value of its own, and four times
// as long in concat, which grows its list item by item.
func guardLists(b *Budget, name string, args []any) error {
	n, takes := 0, 0
	for _, a := range args {
		if v := reflect.ValueOf(a); v.Kind() == reflect.Slice || v.Kind() == reflect.Array {
			n += v.Len()
			takes += v.Len()
			if v.Type().Elem().Kind() != reflect.Interface {
				takes += v.Len()
			}
		}
	}
	if err := items(n); err != nil {
		return err
	}
	if name == "concat" {
		takes *= 4
	}
	return b.Step(takes / 8)
}

// guardSplit counts the parts that a text is split into: split and splitn make a
// map of them, splitList a list.
func guardSplit(b *Budget, args []any) error {
	separator, in := text(args[0]), text(args[len(args)-1])
	parts := strings.Count(in, separator) + 1
	if len(args) == 3 && number(args[1]) > 0 {
		parts = min(parts, number(args[1]))
	}
	if err := items(parts); err != nil {
		return err
	}
	return b.Made(product(parts, 96))
}

// guardSearch counts comparisons: of each item, or of each pair of items. Comparing two takes time in proportion
// to their size.
func guardSearch(b *Budget, name string, args []any) error {
	before := b.Steps
	if err := weighCopied(1, 1)(b, args); err != nil {
		return err
	}
	size := b.Steps - before
	switch name {
	case "uniq", "mustUniq":
		return b.Step(product(size, lengthOf(args[0])) / 6)
	case "without", "mustWithout":
		return b.Step(product(size, len(args)-1) / 3)
	}
	return nil
}

func lengthOf(list any) int {
	if v := reflect.ValueOf(list); v.Kind() == reflect.Slice || v.Kind() == reflect.Array {
		return v.Len()
	}
	return 0
}
