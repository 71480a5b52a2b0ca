// Package haystack finds texts in other texts, however they are escaped or
// encoded there: quoted for Go, JSON, YAML, JavaScript, HTML, URLs, SQL or a
// shell, twice over, folded and indented, and within base64, base32 or hex.
//
// It does not know what the texts are, and finds none that was cut, encrypted,
// compressed or otherwise made unrecognisable.
package haystack
