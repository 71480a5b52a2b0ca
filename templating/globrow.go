package templating

import (
	"reflect"
	"slices"
)

// gobwas/glob v0.2.3 compiles parts of fixed length that follow one another to a row, which matches only texts
// of that length (compiler/compiler.go, glueMatchersAsRow). It takes alternatives to have the length of the last
// ones if those before have none (match/any_of.go, AnyOf.Len): files/{*.yaml,b.yml} finds no name in files/ but
// one of five characters.

// inRow reports whether part i of the sequence belongs to a row.
func (g glob) inRow(i int) bool {
	return g[i].runes >= 0 && (i > 0 && g[i-1].runes >= 0 || i+1 < len(g) && g[i+1].runes >= 0)
}

// length returns the number of characters that gobwas takes the sequence to have, or -1.
func (g glob) length() int {
	sum, wildcards := 0, 0
	for _, part := range g {
		if part.runes < 0 {
			return -1
		}
		sum += part.runes
		if part.wild != 0 {
			wildcards++
		}
	}
	if wildcards > 1 && wildcards == len(g) {
		return -1 // "??" has a minimum and a maximum (glueMatchersAsEvery)
	}
	return sum
}

// oneOf returns the part that matches one of the terms.
func oneOf(terms []glob) globPart {
	runes := -1
	for _, term := range terms {
		n := term.length()
		if runes >= 0 && n != runes {
			return globPart{terms: terms, runes: -1}
		}
		runes = n
	}
	return globPart{terms: terms, runes: runes}
}

// factored moves what all terms begin or end with out of them (compiler.go, minimizeTreeAnyOf): {a/*.yaml,a/b?.yaml}
// is a/{*,b?}.yaml.
func factored(terms []glob) []glob {
	if len(terms) == 0 {
		return nil
	}
	least := slices.MinFunc(terms, func(a, b glob) int { return len(a) - len(b) })
	alike := func(at func(glob) globPart) bool {
		return !slices.ContainsFunc(terms, func(g glob) bool { return !reflect.DeepEqual(at(g), at(least)) })
	}
	left, right := 0, 0
	for left < len(least) && alike(func(g glob) globPart { return g[left] }) {
		left++
	}
	for left+right < len(least) && alike(func(g glob) globPart { return g[len(g)-1-right] }) {
		right++
	}
	if left+right == 0 || left+right == len(least) {
		return terms
	}
	rest := make([]glob, len(terms))
	for i, g := range terms {
		rest[i] = g[left : len(g)-right]
	}
	var sequence glob
	if left > 0 {
		sequence = append(sequence, oneOf([]glob{least[:left]}))
	}
	sequence = append(sequence, oneOf(rest))
	if right > 0 {
		sequence = append(sequence, oneOf([]glob{least[len(least)-right:]}))
	}
	return []glob{sequence}
}
