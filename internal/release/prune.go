package release

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// fields are the fields of a JSON object to keep; nil keeps a value whole.
type fields map[string]fields

// ErrTooLarge says that more of a record would have to be kept than is allowed.
var ErrTooLarge = errors.New("the part of the record to be read is too large")

// prune copies a JSON object with only the given fields, holding no more of it in memory than it
// copies: at most most bytes. If fields are needed, given by their paths ("chart.metadata"), it ends
// after the last of them. It does not validate what it leaves out.
func prune(in io.Reader, keep fields, needed []string, most int) ([]byte, error) {
	p := &pruner{in: bufio.NewReaderSize(in, 16<<10), most: most, missing: map[string]bool{}, early: len(needed) > 0}
	for _, name := range needed {
		p.missing[name] = true
	}
	first, err := p.next()
	if err != nil {
		return nil, err
	}
	if first != '{' {
		return nil, fmt.Errorf("it begins with %q and is not an object", first)
	}
	if err := p.object(keep, ""); err != nil {
		return nil, err
	}
	return p.out, p.full()
}

type pruner struct {
	in   *bufio.Reader
	out  []byte
	most int
	// missing are the paths of the needed fields that have not been read yet; early says that reading
	// ends after them.
	missing map[string]bool
	early   bool
}

// done reports whether all that is needed has been read.
func (p *pruner) done() bool { return p.early && len(p.missing) == 0 }

// found notes that the field at a path has been read, and with it all that it could hold.
func (p *pruner) found(path string) {
	for needed := range p.missing {
		if needed == path || strings.HasPrefix(needed, path+".") {
			delete(p.missing, needed)
		}
	}
}

func (p *pruner) full() error {
	if len(p.out) > p.most {
		return ErrTooLarge
	}
	return nil
}

// next returns the next byte that is not white space.
func (p *pruner) next() (byte, error) {
	for {
		b, err := p.in.ReadByte()
		if err != nil {
			return 0, ended(err)
		}
		if b != ' ' && b != '\t' && b != '\n' && b != '\r' {
			return b, nil
		}
	}
}

func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// object copies the fields of an object whose opening brace has been read; the paths of its fields begin
// with prefix. It ends with the last field that is needed.
func (p *pruner) object(keep fields, prefix string) error {
	p.out = append(p.out, '{')
	for {
		b, err := p.next()
		switch {
		case err != nil:
			return err
		case b == '}':
			p.close()
			return nil
		case b == ',':
			continue
		case b != '"':
			return fmt.Errorf("invalid character %q before a field", b)
		}
		if err := p.field(keep, prefix); err != nil {
			return err
		}
		if p.done() {
			p.close()
			return nil
		}
	}
}

// close ends an object: the closing brace replaces the comma after the last field.
func (p *pruner) close() {
	p.out = append(bytes.TrimSuffix(p.out, []byte(",")), '}')
}

// field copies or skips a field. The opening quote of its name has been read.
func (p *pruner) field(keep fields, prefix string) error {
	start := len(p.out)
	if err := p.value('"', true); err != nil {
		return err
	}
	name := string(p.out[start+1 : len(p.out)-1])
	inner, wanted := keep[name]
	if !wanted {
		p.out = p.out[:start]
	}
	b, err := p.next()
	if err == nil && b == ':' {
		b, err = p.next()
	} else if err == nil {
		err = fmt.Errorf("invalid character %q after the name of a field", b)
	}
	if err != nil {
		return err
	}
	switch {
	case wanted && inner != nil && b == '{':
		p.out = append(p.out, ':')
		err = p.object(inner, prefix+name+".")
	case wanted:
		p.out = append(p.out, ':')
		err = p.value(b, true)
	default:
		err = p.value(b, false)
	}
	p.found(prefix + name)
	if wanted {
		p.out = append(p.out, ',')
	}
	return err
}

// value reads a value that begins with b, and copies it if kept is true.
func (p *pruner) value(b byte, kept bool) error {
	for depth := 0; ; {
		if kept {
			p.out = append(p.out, b)
		}
		switch b {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			if err := p.text(kept); err != nil {
				return err
			}
		}
		if err := p.full(); err != nil {
			return err
		}
		if depth == 0 && (b == '"' || b == '}' || b == ']') {
			return nil
		}
		following, err := p.in.Peek(1)
		if err != nil {
			return ended(err)
		}
		if c := following[0]; depth == 0 && (c == ',' || c == '}' || c == ']' || c == ' ' || c == '\t' || c == '\n' || c == '\r') {
			return nil // the end of a number or word
		}
		b, _ = p.in.ReadByte() // the byte that was peeked at
	}
}

// text reads the rest of a string, including the closing quote.
func (p *pruner) text(kept bool) error {
	for {
		chunk, err := p.in.ReadSlice('"')
		if kept {
			p.out = append(p.out, chunk...)
			if err := p.full(); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			// A backslash at the end of the buffer escapes the byte after it.
			if escapes(chunk)%2 == 1 {
				b, err := p.in.ReadByte()
				if err != nil {
					return ended(err)
				}
				if kept {
					p.out = append(p.out, b)
				}
			}
		case err != nil:
			return ended(err)
		case escapes(chunk[:len(chunk)-1])%2 == 0:
			return nil
		}
	}
}

// escapes counts the backslashes at the end of the text.
func escapes(text []byte) int { return len(text) - len(bytes.TrimRight(text, `\`)) }
