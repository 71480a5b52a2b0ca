package manifest

const (
	// maxEntries is how many entries all that a chart renders may have, as Entries counts. argo-cd's
	// 1.9 MB have 34,000, and 20,000 objects of a few lines 412,000.
	maxEntries = 600_000
	// maxDocumentEntries is how many of them one document may have: those of one are in memory at a time.
	maxDocumentEntries = 300_000
)

// Entries counts what could begin an entry of a list or table, without
// parsing: a bound for the work that parsing is.
func Entries[T []byte | string](data T) int {
	n := 0
	for i := range len(data) {
		switch data[i] {
		case ',', '[', '{':
			n++
		case ':', '-', '?':
			if i+1 == len(data) || data[i+1] == ' ' || data[i+1] == '\n' || data[i+1] == '\r' || data[i+1] == '\t' {
				n++
			}
		}
	}
	return n
}
