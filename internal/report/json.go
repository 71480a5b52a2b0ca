package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/kubectl-release/kubectl-release/plan"
)

// JSON prints the plan for machines, indented, with one newline at its end. It
// prints secrets when the plan holds them: see Redact. Control characters that
// JSON allows in strings are escaped, too, because people read JSON on
// terminals. Errors are those of w and of values that JSON does not have.
func JSON(w io.Writer, p *plan.Plan) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(p); err != nil {
		return fmt.Errorf("encode the plan of %s: %w", p.Release, err)
	}
	_, err := w.Write(escapeJSON(b.Bytes()))
	return err
}

// escapeJSON escapes what can't be seen. In JSON such characters are in strings
// only, apart from the newlines between its lines.
func escapeJSON(in []byte) []byte {
	out := make([]byte, 0, len(in))
	for i := 0; i < len(in); {
		r, n := utf8.DecodeRune(in[i:])
		switch {
		case r == '\n' || printable(r):
			out = append(out, in[i:i+n]...)
		case r > 0xffff:
			high, low := surrogates(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += n
	}
	return out
}

func surrogates(r rune) (high, low rune) {
	const first, lowest, bits = 0xd800, 0xdc00, 10
	r -= 0x10000
	return first + r>>bits, lowest + r&(1<<bits-1)
}
