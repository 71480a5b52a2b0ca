package plan

import "strconv"

// maxNamedClaims is how many names of a StatefulSet's claims are derived from its number of pods, which
// may be two thousand million.
const maxNamedClaims = 10000

// ordinals are the ordinals from up to, but not including, end. They are wider than those of a
// StatefulSet, so that start and replicas can be added.
type ordinals struct{ from, end int64 }

// without returns the ordinals that the others do not include, in order.
func (o ordinals) without(other ordinals) []ordinals {
	if other.from >= other.end {
		other = ordinals{o.from, o.from}
	}
	var out []ordinals
	for _, part := range []ordinals{{o.from, min(o.end, other.from)}, {max(o.from, other.end), o.end}} {
		if part.from < part.end {
			out = append(out, part)
		}
	}
	return out
}

func (o ordinals) include(n int64) bool { return o.from <= n && n < o.end }

// ordinalOf parses the last part of the name of a pod or claim.
func ordinalOf(text string) (n int64, ok bool) {
	n, err := strconv.ParseInt(text, 10, 32)
	return n, err == nil && n >= 0 && strconv.FormatInt(n, 10) == text
}
