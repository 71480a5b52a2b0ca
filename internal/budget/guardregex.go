package budget

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
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

// guardMatch counts the steps of compiling the first argument and matching the second.
func guardMatch(b *Budget, args []any) error {
	expr, in := text(args[0]), text(args[1])
	if len(expr) > maxPattern {
		return fmt.Errorf("the regular expression is longer than %d KiB", maxPattern>>10)
	}
	size := len(expr)
	work := product(size, len(in))
	if strings.Contains(expr, "{") || work > exactWork {
		if prog := compiled(expr); prog != nil {
			size = len(prog.Inst)
			work = matching(prog, in)
		}
	}
	return b.Step(3*len(expr) + 2*size + work/16)
}

// exactWork is the product of an expression's and a text's length from which it is worth while to estimate the
// work of matching exactly. Only counted repetitions make more than one instruction out of a character.
const exactWork = 4096

// compiled returns the program of an expression, nil if it has an error, which the function itself reports.
func compiled(expr string) *syntax.Prog {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return nil
	}
	return prog
}

// matching returns how many instructions matching a text takes at most: at each character, those that an
// attempt to match begins with, and those that follow an instruction that the character matches. What a character
// does not match is not followed (regexp/exec.go, machine.step). Each copies the places of all groups.
func matching(prog *syntax.Prog, in string) int {
	var times [utf8.RuneSelf + 1]int // of ASCII characters, and of bytes of others
	for i := range len(in) {
		times[min(in[i], utf8.RuneSelf)]++
	}
	most := len(prog.Inst) * len(in)
	f := follower{prog: prog, seen: make([]int, len(prog.Inst))}
	work := f.from(uint32(prog.Start)) * len(in)
	for i := range prog.Inst {
		if work >= most {
			break
		}
		if n := matches(&prog.Inst[i], &times); n > 0 {
			work += n * (1 + f.from(prog.Inst[i].Out))
		}
	}
	return min(work, most) * (1 + prog.NumCap/64)
}

// matches returns how many of the characters an instruction matches.
func matches(inst *syntax.Inst, times *[utf8.RuneSelf + 1]int) int {
	switch inst.Op {
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
	default:
		return 0
	}
	n := times[utf8.RuneSelf]
	for c, number := range times[:utf8.RuneSelf] {
		if number > 0 && inst.MatchRune(rune(c)) {
			n += number
		}
	}
	return n
}

// follower counts instructions that are carried out without another character being read.
type follower struct {
	prog *syntax.Prog
	// seen is the last count in which an instruction was seen.
	seen  []int
	count int
}

// from returns how many there are from one on; if there are many, all of the program.
func (f *follower) from(pc uint32) int {
	const many = 64
	f.count++
	n, next := 0, []uint32{pc}
	for len(next) > 0 {
		pc, next = next[len(next)-1], next[:len(next)-1]
		if f.seen[pc] == f.count {
			continue
		}
		f.seen[pc] = f.count
		if n++; n == many {
			return len(f.prog.Inst)
		}
		switch inst := &f.prog.Inst[pc]; inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			next = append(next, inst.Out, inst.Arg)
		case syntax.InstCapture, syntax.InstEmptyWidth, syntax.InstNop:
			next = append(next, inst.Out)
		}
	}
	return n
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
