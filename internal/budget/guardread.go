package budget

import (
	"fmt"
	"strings"
)

// guardPrintf counts the arguments and bounds the padding by widths and precisions.
func guardPrintf(b *Budget, args []any) error {
	format, padding, run := text(args[0]), 0, 0
	verb, encodes := false, false
	for i := range len(format) {
		c := format[i]
		encodes = encodes || verb && strings.IndexByte("qxX#", c) >= 0
		verb = c == '%' || verb && !isLetter(c)
		switch {
		case c >= '0' && c <= '9':
			run = min(run*10+int(c-'0'), 1_000_000)
			continue
		case c == '*':
			padding += 1_000_000
		}
		padding += run
		run = 0
	}
	weigh, growth, times := weighCopied, 1, 1
	if encodes {
		weigh, growth = weighBy, 5 // "% #x" makes "0x61 " of "a"
	}
	if strings.Contains(format, "%[") {
		times = strings.Count(format, "%") // one argument many times
	}
	if err := b.Step(len(format) / 4); err != nil {
		return err
	}
	before := b.Steps
	if err := weigh(3, product(growth, times))(b, args[1:]); err != nil {
		return err
	}
	if err := b.Step((b.Steps - before) * (times - 1)); err != nil {
		return err
	}
	if padding > 64<<10 {
		if err := b.Room(padding); err != nil {
			return err
		}
	}
	return b.Step(padding / 128)
}

func isLetter(c byte) bool { return 'a' <= c|' ' && c|' ' <= 'z' }

// guardOfReader is guardOf for functions that parse text.
func guardOfReader(name string) guard {
	switch name {
	case "fromYaml": // ReadSlowly counts the rest
		return func(b *Budget, a []any) error { return guardDecode(b, text(a[0]), 1, readBytes) }
	case "fromJson", "fromJsonArray", "mustFromJson":
		return func(b *Budget, a []any) error { return guardDecode(b, text(a[0]), 2, 16) }
	case "fromYamlArray":
		return func(b *Budget, a []any) error { return guardDecode(b, text(a[0]), slowSteps, slowBytes) }
	case "fromToml":
		return guardTOML
	}
	return nil
}

// The YAML library takes so many steps for each value, and one for so many bytes.
const slowSteps, slowBytes = 10, 4

// WriteSlowly counts what it takes to write a value as YAML with the library.
func (b *Budget) WriteSlowly(v any) error {
	if err := b.Step(5 * slowSteps); err != nil {
		return err
	}
	return weigh(slowSteps, 4, slowBytes)(b, []any{v})
}

// ReadSlowly counts what it takes to read YAML with the library.
func (b *Budget) ReadSlowly(in string) error {
	return b.Step(5*slowSteps + slowSteps*values(in) + len(in)/slowBytes)
}

// guardDecode counts values and, with much less weight, their text: 0.4 MB of
// flow-style YAML takes as long as 5 MB of the CRDs that people write.
func guardDecode(b *Budget, in string, steps, bytes int) error {
	if len(in) > maxDecode {
		return fmt.Errorf("the text is %d MiB; at most %d MiB can be decoded", len(in)>>20, maxDecode>>20)
	}
	nodes := values(in)
	if nodes > MaxValueNodes {
		return fmt.Errorf("the text has more than %d values", MaxValueNodes)
	}
	if err := b.Step(steps*nodes + len(in)/bytes); err != nil {
		return err
	}
	return b.Made(2 * len(in))
}

// values returns about how many values a YAML or JSON text has.
func values(in string) int {
	return strings.Count(in, "\n") + strings.Count(in, ",") + strings.Count(in, "[") + strings.Count(in, "{")
}

// guardTOML also bounds dotted keys: each dot is a table within a table, and the
// time to read a key grows with the square of their number.
func guardTOML(b *Budget, args []any) error {
	in := text(args[0])
	if err := guardDecode(b, in, slowSteps, slowBytes); err != nil {
		return err
	}
	for line := range strings.Lines(in) {
		dots := strings.Count(line, ".")
		if dots > MaxValueDepth {
			return fmt.Errorf("a line of the text has more than %d dots", MaxValueDepth)
		}
		if err := b.Step(dots * dots / 8); err != nil {
			return err
		}
	}
	return nil
}
