package budget

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// guardOfRegex is GuardOf for regular expressions. Go's never take exponential
// time, but time in proportion to the length of the text times the expression's.
func guardOfRegex(name string) Guard {
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

// guardMatch counts the steps of compiling the first argument and matching the second.
func guardMatch(b *Budget, args []any) error {
	expr, in := text(args[0]), text(args[1])
	if len(expr) > maxPattern {
		return fmt.Errorf("the regular expression is longer than %d KiB", maxPattern>>10)
	}
	size := patternSize(expr)
	return b.Step(2*len(expr) + size + product(size, len(in))/16)
}

// patternSize estimates how many instructions an expression compiles to. Only
// counted repetitions make more than one out of a character.
func patternSize(expr string) int {
	if !strings.Contains(expr, "{") {
		return len(expr)
	}
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return len(expr) // the function itself reports it
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return len(expr)
	}
	return len(prog.Inst)
}

// guardMatches also bounds the list of all matches.
func guardMatches(b *Budget, args []any) error {
	if err := guardMatch(b, args); err != nil {
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
	if err := guardMatch(b, args); err != nil {
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
