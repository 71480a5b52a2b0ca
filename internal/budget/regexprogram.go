package budget

import (
	"regexp/syntax"
	"unicode/utf8"
)

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
	times := characters(in)
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

// mostMatches returns how many matches a text has at most: each begins with a character that an attempt to match
// begins with, and ends with one that is followed by nothing else, unless an expression matches nothing at all.
func mostMatches(prog *syntax.Prog, in string) int {
	times, first, last := characters(in), 0, 0
	f := follower{prog: prog, seen: make([]int, len(prog.Inst))}
	if f.from(uint32(prog.Start)) >= many {
		return len(in) + 1
	}
	begins := f.count
	for i := range prog.Inst {
		inst := &prog.Inst[i]
		if f.seen[i] == begins {
			if inst.Op == syntax.InstMatch {
				return len(in) + 1
			}
			first += matches(inst, &times)
		}
	}
	for i := range prog.Inst {
		if n := matches(&prog.Inst[i], &times); n > 0 && f.ends(prog.Inst[i].Out) {
			last += n
		}
	}
	return min(first, last, len(in))
}

// characters returns how often a text has each ASCII character, and how many bytes of others.
func characters(in string) (times [utf8.RuneSelf + 1]int) {
	for i := range len(in) {
		times[min(in[i], utf8.RuneSelf)]++
	}
	return times
}

// matches returns how many of the characters an instruction matches.
func matches(inst *syntax.Inst, times *[utf8.RuneSelf + 1]int) int {
	switch inst.Op {
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
	case syntax.InstAlt, syntax.InstAltMatch, syntax.InstCapture, syntax.InstEmptyWidth, syntax.InstMatch, syntax.InstFail, syntax.InstNop:
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

// many is from how many instructions on they are not followed any further.
const many = 64

// from returns how many there are from one on; if there are many, all of the program.
func (f *follower) from(pc uint32) int {
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
		case syntax.InstMatch, syntax.InstFail, syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		}
	}
	return n
}

// ends reports whether the match may be complete at an instruction.
func (f *follower) ends(pc uint32) bool {
	if f.from(pc) >= many {
		return true
	}
	for i := range f.prog.Inst {
		if f.seen[i] == f.count && f.prog.Inst[i].Op == syntax.InstMatch {
			return true
		}
	}
	return false
}
