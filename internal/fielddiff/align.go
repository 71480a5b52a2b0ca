package fielddiff

import (
	"strconv"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
)

// IdentityFields returns the fields by which people tell the items of a list apart if the list's
// type has no merge key, the best first. "alert" and "record" are for Prometheus rules.
func IdentityFields() []string { return []string{"name", "key", "id", "alert", "record"} }

// Identity returns the field that identifies an item, and its value; "" and nil if there is none.
func Identity(item any) (field string, v any) {
	for _, field := range IdentityFields() {
		if v := jsontree.KeyOf(item, field); v != nil && v != "" {
			return field, v
		}
	}
	if v := jsontree.KeyOf(metadataOf(item), "name"); v != nil {
		return nestedName, v
	}
	return "", nil
}

func identity(item any) any {
	_, v := Identity(item)
	return v
}

// identities returns the identity of each item as its name; false if two items
// share one, or if one is missing or not a string.
func identities(list []any) ([]string, bool) {
	names, seen := make([]string, len(list)), make(map[string]bool, len(list))
	for i, item := range list {
		name, ok := identity(item).(string)
		if !ok || seen[name] {
			return nil, false
		}
		names[i], seen[name] = name, true
	}
	return names, true
}

// pair holds the indexes of an item that is in both lists.
type pair struct{ from, to int }

// aligned compares lists whose items have no unique names. The items that are in
// both are those of the longest common subsequence of items that are equal or
// have the same identity.
func (d *differ) aligned(path string, from, to []any, n *apitypes.Node) {
	i, j := 0, 0
	for _, p := range append(align(from, to, n.Item()), pair{len(from), len(to)}) {
		for ; i < p.from && j < p.to && identity(from[i]) == nil && identity(to[j]) == nil; i, j = i+1, j+1 {
			d.field(at(path, j), from[i], to[j], n.Item())
		}
		for ; i < p.from; i++ {
			d.add(at(path, i), from[i], nil)
		}
		for ; j < p.to; j++ {
			d.add(at(path, j), nil, to[j])
		}
		if i < len(from) && j < len(to) {
			d.field(at(path, j), from[i], to[j], n.Item())
		}
		i, j = i+1, j+1
	}
}

func at(path string, index int) string { return path + "[" + strconv.Itoa(index) + "]" }

// maxCells limits the size of the table in align. Items of larger lists are paired by index.
const maxCells = 1 << 18

// align pairs the items of two lists, keeping their order.
func align(from, to []any, n *apitypes.Node) []pair {
	var pairs []pair
	first := 0
	for first < min(len(from), len(to)) && apitypes.Equal(from[first], to[first], n) {
		pairs = append(pairs, pair{first, first})
		first++
	}
	last := 0 // from the end
	for last < min(len(from), len(to))-first && apitypes.Equal(from[len(from)-1-last], to[len(to)-1-last], n) {
		last++
	}
	rows, columns := len(from)-first-last, len(to)-first-last
	if rows*columns > maxCells {
		for k := range min(rows, columns) {
			pairs = append(pairs, pair{first + k, first + k})
		}
	} else {
		for _, p := range longest(from[first:len(from)-last], to[first:len(to)-last], n) {
			pairs = append(pairs, pair{first + p.from, first + p.to})
		}
	}
	for ; last > 0; last-- {
		pairs = append(pairs, pair{len(from) - last, len(to) - last})
	}
	return pairs
}

// longest returns the common subsequence of two lists with the highest score.
func longest(from, to []any, n *apitypes.Node) []pair {
	columns := len(to) + 1
	score := make([]int, (len(from)+1)*columns)
	same := make([]int, len(score))
	for i := len(from) - 1; i >= 0; i-- {
		for j := len(to) - 1; j >= 0; j-- {
			cell := i*columns + j
			same[cell] = likeness(from[i], to[j], n)
			score[cell] = max(score[cell+1], score[cell+columns])
			if same[cell] > 0 {
				score[cell] = max(score[cell], score[cell+columns+1]+same[cell])
			}
		}
	}
	var pairs []pair
	for i, j := 0, 0; i < len(from) && j < len(to); {
		switch cell := i*columns + j; {
		case same[cell] > 0 && score[cell] == score[cell+columns+1]+same[cell]:
			pairs = append(pairs, pair{i, j})
			i, j = i+1, j+1
		case score[cell] == score[cell+columns]:
			i++
		default:
			j++
		}
	}
	return pairs
}

// likeness returns 0 for items that don't match, and more for equal items than
// for those that only have the same identity.
func likeness(a, b any, n *apitypes.Node) int {
	const related, equal = 2, 3
	id := identity(a)
	switch {
	case id != identity(b):
		return 0
	case apitypes.Equal(a, b, n):
		return equal
	case id != nil:
		return related
	}
	return 0
}
