package yamltext

import "unicode"

// naturally sorts keys as the YAML emitter does: letters after other
// characters, and embedded numbers by value.
type naturally []string

func (k naturally) Len() int           { return len(k) }
func (k naturally) Swap(i, j int)      { k[i], k[j] = k[j], k[i] }
func (k naturally) Less(i, j int) bool { return naturalLess([]rune(k[i]), []rune(k[j])) }

func naturalLess(a, b []rune) bool {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] == b[i] {
			continue
		}
		la, lb := unicode.IsLetter(a[i]), unicode.IsLetter(b[i])
		switch {
		case la && lb:
			return a[i] < b[i]
		case la || lb:
			return lb
		}
		return numberLess(a, b, i)
	}
	return len(a) < len(b)
}

// numberLess compares at i, where neither has a letter: numbers by value, counting
// the digits before i if either has a zero at i.
func numberLess(a, b []rune, i int) bool {
	var lead int64
	if a[i] == '0' || b[i] == '0' {
		for j := i - 1; j >= 0 && unicode.IsDigit(a[j]); j-- {
			if a[j] != '0' {
				lead = 1
				break
			}
		}
	}
	na, ea := digits(a, i, lead)
	nb, eb := digits(b, i, lead)
	switch {
	case na != nb:
		return na < nb
	case ea != eb:
		return ea < eb
	}
	return a[i] < b[i]
}

func digits(s []rune, i int, n int64) (value int64, end int) {
	for ; i < len(s) && unicode.IsDigit(s[i]); i++ {
		n = n*10 + int64(s[i]-'0')
	}
	return n, i
}
