package release

import (
	"bytes"
	"fmt"
)

// MaxEntries is how many entries of lists and mappings the records that are read together may
// have, as Entries counts them: an entry of two bytes of JSON takes up to 200 in memory. A
// manifest is one text, and none of what it describes is counted.
const MaxEntries = 400_000

// listEntry is what one entry of a list counts for that is a field of the record itself: hooks are
// structs, kept in one piece, so even a 0 in their place takes 208 bytes, and as much again while
// the list grows.
const listEntry = 10

// ErrTooMany says that a record has more entries than may be read.
var ErrTooMany = fmt.Errorf("it has more than %d entries in lists and mappings", MaxEntries)

// Entries counts the entries of lists and mappings in a record that is written to it in JSON, of
// which it makes no copy. The count is an upper bound, and valid for any text.
type Entries struct {
	// N is the count so far.
	N int

	depth             int
	inList            bool // at depth 2: of a list
	inText, isEscaped bool
}

// count returns the entries of a whole record.
func count(record []byte) int {
	var e Entries
	_, _ = e.Write(record)
	return e.N
}

// Write implements io.Writer. It never fails.
func (e *Entries) Write(data []byte) (int, error) {
	for rest := data; len(rest) > 0; {
		if e.inText {
			rest = e.text(rest)
		} else {
			rest = e.structure(rest)
		}
	}
	return len(data), nil
}

// text skips the rest of a string as far as it is there, and returns what follows.
func (e *Entries) text(data []byte) []byte {
	if e.isEscaped {
		e.isEscaped = false
		return data[1:]
	}
	part, rest, ended := bytes.Cut(data, []byte{'"'})
	odd := escapes(part)%2 == 1
	e.inText, e.isEscaped = !ended || odd, !ended && odd
	return rest
}

// structure counts up to the next string, and returns what follows its opening quote.
func (e *Entries) structure(data []byte) []byte {
	for i, b := range data {
		switch b {
		case '"':
			e.inText = true
			return data[i+1:]
		case '{', '[':
			e.depth++
			if e.depth == 2 {
				e.inList = b == '['
			}
			e.N++
		case '}', ']':
			e.depth--
		case ',':
			e.N++
			if e.depth == 2 && e.inList {
				e.N += listEntry - 1
			}
		}
	}
	return nil
}
