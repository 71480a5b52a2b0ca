package manifest

const (
	// maxEntries is how many entries everything that a chart renders may have, as counted by
	// Entries. argo-cd's 1.9 MB have 34,000, and 20,000 objects of a few lines have 412,000.
	maxEntries = 600_000
	// maxDocumentEntries is how many of them one document may have: documents are in memory one at a
	// time.
	maxDocumentEntries = 300_000
)

// Entries returns an upper bound for the number of entries in the lists and mappings of YAML
// data. It counts, without parsing, what could begin one, and so limits the work of parsing.
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
