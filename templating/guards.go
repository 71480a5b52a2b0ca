package templating

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
)

// guard refuses a call that would use more than the budget has left. It runs
// before the function, which is sprig's or Go's and knows no limits.
type guard func(b *budget, args []any) error

// guardOf is the guard of a function; most need none beyond what every call
// counts.
func guardOf(name string) guard {
	switch name {
	case "toYaml", "mustToYaml", "toYamlPretty", "toJson", "mustToJson", "toPrettyJson", "mustToPrettyJson",
		"toRawJson", "mustToRawJson", "toToml", "mustToToml", "toString", "toStrings", "sortAlpha", "quote", "squote",
		"cat", "print", "println", "html", "js", "urlquery", "deepEqual", "has", "mustHas", "uniq", "mustUniq",
		"without", "mustWithout", "deepCopy", "mustDeepCopy", "merge", "mustMerge", "mergeOverwrite",
		"mustMergeOverwrite", "eq", "ne":
		return weighAll
	case "printf":
		return guardPrintf
	case "repeat":
		return func(b *budget, a []any) error { return b.room(product(number(a[0]), len(text(a[1])))) }
	case "indent", "nindent":
		return func(b *budget, a []any) error {
			return b.room(product(number(a[0]), strings.Count(text(a[1]), "\n")+1))
		}
	case "replace":
		return guardReplace
	case "join":
		return guardJoin
	case "regexReplaceAll", "mustRegexReplaceAll", "regexReplaceAllLiteral", "mustRegexReplaceAllLiteral":
		return guardRegexReplace
	}
	return guardOfMaker(name)
}

// guardOfMaker is guardOf for what makes lists, random text and keys, and for
// what reads text.
func guardOfMaker(name string) guard {
	switch name {
	case "until":
		return func(_ *budget, a []any) error { return items(number(a[0])) }
	case "untilStep":
		return func(_ *budget, a []any) error { return guardSteps(number(a[0]), number(a[1]), number(a[2])) }
	case "seq":
		return guardSeq
	case "randAlphaNum", "randAlpha", "randAscii", "randNumeric", "randBytes":
		return func(b *budget, a []any) error { return b.room(number(a[0])) }
	case "wrap", "wrapWith":
		return guardWrap
	case "concat", "append", "mustAppend", "push", "mustPush", "prepend", "mustPrepend", "reverse", "mustReverse",
		"rest", "mustRest", "initial", "mustInitial", "compact", "mustCompact", "chunk", "mustChunk":
		return guardLists
	case "genPrivateKey", "genCA", "genCAWithKey", "genSelfSignedCert", "genSelfSignedCertWithKey", "genSignedCert",
		"genSignedCertWithKey", "derivePassword":
		return func(b *budget, _ []any) error { return b.step(keySteps) }
	case "bcrypt", "htpasswd":
		return func(b *budget, _ []any) error { return b.step(hashSteps) }
	case "fromYaml", "fromYamlArray", "fromJson", "fromJsonArray", "mustFromJson", "fromToml":
		return guardDecode
	}
	return nil
}

// makesMemory says whether a function's result is new memory. Functions that
// hand on what they were given (default, get, ternary …) have results of any
// type and are not counted.
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

func items(n int) error {
	if n > maxItems || n < -maxItems {
		return errItems
	}
	return nil
}

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

func guardSeq(b *budget, args []any) error {
	n := make([]int, len(args))
	for i, a := range args {
		n[i] = number(a)
	}
	switch len(n) {
	case 1:
		return errors.Join(items(n[0]), b.room(8*abs(n[0])))
	case 2:
		return items(abs(n[1] - n[0]))
	case 3:
		return guardSteps(n[0], n[2], n[1])
	}
	return nil
}

func abs(n int) int { return max(n, -n) }

func guardReplace(b *budget, args []any) error {
	old, with, in := text(args[0]), text(args[1]), text(args[2])
	if len(with) <= len(old) {
		return nil
	}
	return b.room(product(len(with), strings.Count(in, old)))
}

func guardJoin(b *budget, args []any) error {
	if err := weighAll(b, args); err != nil {
		return err
	}
	list := reflect.ValueOf(args[1])
	if list.Kind() != reflect.Slice && list.Kind() != reflect.Array {
		return nil
	}
	return b.room(product(len(text(args[0])), list.Len()))
}

func guardWrap(b *budget, args []any) error {
	width, separator := max(number(args[0]), 1), 1
	if len(args) == 3 {
		separator = len(text(args[1]))
	}
	return b.room(product(len(text(args[len(args)-1]))/width+1, separator))
}

// guardRegexReplace bounds the result: a match gives the replacement's text,
// and each $ in it can give what was matched.
func guardRegexReplace(b *budget, args []any) error {
	expr, in, with := text(args[0]), text(args[1]), text(args[2])
	if b.room(product(len(in)+1, len(with)+1)) == nil {
		return nil
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil //nolint:nilerr // the function itself reports it
	}
	matches := len(re.FindAllStringIndex(in, -1))
	return b.room(product(matches, len(with)) + product(strings.Count(with, "$"), len(in)))
}

func guardLists(b *budget, args []any) error {
	n := 0
	for _, a := range args {
		if v := reflect.ValueOf(a); v.Kind() == reflect.Slice || v.Kind() == reflect.Array {
			n += v.Len()
		}
	}
	if err := items(n); err != nil {
		return err
	}
	return b.step(n / 8)
}

// guardPrintf adds what widths and precisions pad to what arguments weigh.
func guardPrintf(b *budget, args []any) error {
	if err := weighAll(b, args[1:]); err != nil {
		return err
	}
	format, padding, run := text(args[0]), 0, 0
	for i := range len(format) {
		switch c := format[i]; {
		case c >= '0' && c <= '9':
			run = min(run*10+int(c-'0'), 1_000_000)
			continue
		case c == '*':
			padding += 1_000_000
		}
		padding += run
		run = 0
	}
	if padding > 64<<10 {
		return b.room(padding)
	}
	return nil
}

// maxDecode is the size of a text that a template may decode.
const maxDecode = 4 << 20

func guardDecode(b *budget, args []any) error {
	in := text(args[0])
	if len(in) > maxDecode {
		return fmt.Errorf("the text is %d MiB; at most %d MiB can be decoded", len(in)>>20, maxDecode>>20)
	}
	nodes := strings.Count(in, "\n") + strings.Count(in, ",") + strings.Count(in, "[") + strings.Count(in, "{")
	if nodes > maxValueNodes {
		return fmt.Errorf("the text has more than %d values", maxValueNodes)
	}
	if err := b.step(len(in) / 16); err != nil {
		return err
	}
	return b.made(2 * len(in))
}
