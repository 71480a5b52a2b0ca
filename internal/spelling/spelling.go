// Package spelling finds the word that somebody meant, by edit distance to a few
// candidates.
//
// It uses no dictionary and knows no language, and it says nothing where it would
// have to guess.
package spelling

import (
	"slices"
	"strings"
)

// Nearest returns the candidate that needs the fewest edits to become name, the first
// of several, or "" if that takes more than a third of name's letters. It is meant for
// errors: something is already wrong, and a guess may be bold.
func Nearest(name string, candidates []string) string {
	return nearest(name, candidates, max(len(name)/3, 1))
}

// Word is like Nearest, for words that somebody has typed, such as commands and flags, whose beginning is
// seldom wrong: up to two edits, or a third of name's letters, but only one if the candidate begins with
// another letter. Of equally near candidates it is the one that begins most alike.
func Word(name string, candidates []string) string {
	found, best := "", max(2, len(name)/3)+1
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		if max(len(name), len(c)) > maxLength {
			continue
		}
		d, same := edits(name, c), sharedPrefix(name, c)
		if d >= len(name) || d > 1 && same == 0 {
			continue
		}
		if d < best || d == best && found != "" && same > sharedPrefix(name, found) {
			found, best = c, d
		}
	}
	return found
}

// maxLength limits how many bytes a word may have that is compared with others letter by letter: that
// takes steps for each pair of letters. Names of Kubernetes' objects have up to 63, or 253 with dots.
const maxLength = 100

// sharedPrefix returns the length of the longest common prefix of two words.
func sharedPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// Namesake is like Nearest, for warnings, where a guess must be safe: the same letters
// in another case or with other dashes and underscores, one typo in a word of four
// letters or more, two typos in one of eight or more, or swapped neighbours in one of
// three. name itself does not count.
func Namesake(name string, candidates []string) string {
	others := slices.DeleteFunc(slices.Clone(candidates), func(c string) bool { return c == name })
	bare := plain(name)
	for _, c := range others {
		if strings.EqualFold(plain(c), bare) {
			return c
		}
	}
	switch {
	case len(name) >= 8:
		return nearest(name, others, 2)
	case len(name) >= 4:
		return nearest(name, others, 1)
	case len(name) == 3:
		unlike := func(c string) bool { return len(c) != 3 || letters(c) != letters(name) }
		return nearest(name, slices.DeleteFunc(others, unlike), 1)
	}
	return ""
}

// letters returns a word's bytes, sorted.
func letters(word string) string {
	b := []byte(word)
	slices.Sort(b)
	return string(b)
}

// plain returns a word without dashes and underscores, which people mix up.
func plain(word string) string {
	return separators.Replace(word)
}

var separators = strings.NewReplacer("-", "", "_", "")

func nearest(name string, candidates []string, most int) string {
	best, found := most+1, ""
	for _, c := range candidates {
		if strings.EqualFold(c, name) {
			return c
		}
		if diff := len(c) - len(name); diff >= best || -diff >= best || max(len(name), len(c)) > maxLength {
			continue
		}
		if d := edits(name, c); d < best {
			best, found = d, c
		}
	}
	return found
}

// edits counts the typos between two words, in bytes: an extra letter, a missing or
// wrong one, or two neighbours swapped (optimal string alignment).
func edits(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, row[j]+1, last[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
