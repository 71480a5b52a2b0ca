package budget

import (
	"fmt"
	"regexp"
	"strings"
)

// guardOfRegex is guardOf for regular expressions. Go's never take exponential
// time, but time in proportion to the length of the text times the expression's.
func guardOfRegex(name string) guard {
	switch name {
	case "regexMatch", "mustRegexMatch", "regexFind", "mustRegexFind":
		return func(b *Budget, a []any) error { return guardMatch(b, a) }
	case "regexFindAll", "mustRegexFindAll", "regexSplit", "mustRegexSplit":
		return guardMatches
	case "regexReplaceAll", "mustRegexReplaceAll", "regexReplaceAllLiteral", "mustRegexReplaceAllLiteral":
		return guardRegexReplace
	}
	return nil
}

// guardMatch counts the steps of compiling the first argument and finding its first match in the second.
func guardMatch(b *Budget, args []any) error { return guardFind(b, args, false) }

// guardFind is guardMatch, or counts the steps of finding all matches.
func guardFind(b *Budget, args []any, all bool) error {
	expr, in := text(args[0]), text(args[1])
	if len(expr) > maxPattern {
		return fmt.Errorf("the regular expression is longer than %d KiB", maxPattern>>10)
	}
	if err := b.Step(3*len(expr) + classSteps(expr)); err != nil {
		return err
	}
	size, matches := len(expr), 0
	work := product(size, len(in))
	if all {
		matches = len(in) + 1
	}
	if strings.Contains(expr, "{") || work > exactWork || matches > exactMatches {
		if prog := compiled(expr); prog != nil {
			size = len(prog.Inst)
			work = matching(prog, in)
			matches = min(matches, mostMatches(prog, in))
		}
	}
	return b.Step(2*size + work/16 + matches*matchSteps(size, len(in)))
}

// matchSteps is the cost of beginning to look for another match. Where a text is short enough for an expression, Go
// clears a bit for each character and instruction, up to 32 KiB (Go 1.26, regexp/backtrack.go, bitState.reset).
func matchSteps(size, length int) int {
	const most = 32 << 10
	if visited := product(size, length) / 8; visited <= most {
		return 1 + visited/(8<<10)
	}
	return 2
}

// classSteps is the cost of the large classes of characters in an expression: of \p and \P with hundreds of ranges,
// and of ranges whose characters are all looked up since case doesn't matter (Go 1.26, regexp/syntax/parse.go,
// appendFoldedRange).
func classSteps(expr string) int {
	steps := 200 * (strings.Count(expr, `\p`) + strings.Count(expr, `\P`))
	if folds.MatchString(expr) && farOff.MatchString(expr) {
		steps += 40_000 * strings.Count(expr, "-")
	}
	return steps
}

// folds finds the beginning of what is matched whatever the case, farOff characters that a range may lead to that are
// no ASCII, or written as numbers.
var (
	folds  = regexp.MustCompile(`\(\?[a-zA-Z]*i`)
	farOff = regexp.MustCompile(`[^\x00-\x7F]|\\[x0-7]`)
)

// exactWork is the product of an expression's and a text's length from which it is worth while to estimate the
// work of matching exactly. Only counted repetitions make more than one instruction out of a character.
// For few matches at most it is not worth while.
const exactWork, exactMatches = 4096, 256

// guardMatches also bounds the list of all matches.
func guardMatches(b *Budget, args []any) error {
	if err := guardFind(b, args, true); err != nil {
		return err
	}
	matches := len(text(args[1])) + 1
	if n := number(args[2]); n >= 0 {
		matches = min(matches, n)
	}
	return b.Room(product(matches, 24))
}

// guardRegexReplace bounds the result: each match adds the replacement's text,
// and each $ in that can add what was matched.
func guardRegexReplace(b *Budget, args []any) error {
	if err := guardFind(b, args, true); err != nil {
		return err
	}
	expr, in, with := text(args[0]), text(args[1]), text(args[2])
	if b.Room(product(len(in)+1, len(with)+1)) == nil {
		return nil
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil // the function itself reports it
	}
	matches := len(re.FindAllStringIndex(in, -1))
	return b.Room(product(matches, len(with)) + product(strings.Count(with, "$"), len(in)))
}
