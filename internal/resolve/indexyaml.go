package resolve

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"
)

// cutter splits a YAML index into charts. In the layout of Helm and similar tools, with one key per
// line, it follows the indentation, and each piece is parsed as YAML only on demand, which makes
// large indexes fast. For any other layout it fails with errOtherForm.
type cutter struct {
	keep keep
	// head is everything outside the charts.
	head bytes.Buffer
	// inside is set below the key entries.
	inside bool
	top    map[string]bool
	indent int
	name   string
	text   bytes.Buffer
}

// keep receives the name of each chart and the text of its entries, valid only during the call.
type keep func(name string, text []byte) error

// errOtherForm says that an index does not have the layout that can be split by indentation.
var errOtherForm = errors.New("it is not written as Helm writes an index")

const (
	maxLine = 4 << 20
	maxHead = 4 << 20
)

func (c *cutter) run(r io.Reader) (head, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), maxLine)
	for in.Scan() {
		if err := c.line(in.Bytes()); err != nil {
			return head{}, err
		}
	}
	if errors.Is(in.Err(), bufio.ErrTooLong) {
		return head{}, fmt.Errorf("a line is larger than %d MiB", maxLine>>20)
	}
	if in.Err() != nil {
		return head{}, in.Err()
	}
	if err := c.flush(); err != nil {
		return head{}, err
	}
	return parseHead(c.head.Bytes())
}

func parseHead(text []byte) (head, error) {
	var h struct {
		head
		Entries map[string]any `json:"entries"`
	}
	data, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return head{}, err
	}
	if err := yaml.Unmarshal(data, &h); err != nil {
		return head{}, err
	}
	return h.head, nil
}

func (c *cutter) line(text []byte) error {
	body := bytes.TrimLeft(text, " ")
	indent := len(text) - len(body)
	switch {
	case len(bytes.TrimSpace(body)) == 0 || body[0] == '#':
		// Both may be inside a block scalar, where # does not begin a comment.
		return c.write(text)
	case body[0] == '\t', body[0] == '%':
		return errOtherForm
	case indent == 0:
		return c.topLine(text)
	case !c.inside:
		return c.write(text)
	case c.indent == 0:
		c.indent = indent
	}
	switch {
	case indent > c.indent, indent == c.indent && item(body):
		if c.name == "" {
			return errOtherForm
		}
		return c.write(text)
	case indent < c.indent:
		return errOtherForm
	}
	return c.chart(body)
}

// item reports whether a line begins an item of a list.
func item(body []byte) bool { return body[0] == '-' && (len(body) == 1 || body[1] == ' ') }

// topLine handles a line without indentation.
func (c *cutter) topLine(text []byte) error {
	if item(text) && !c.inside && len(c.top) > 0 {
		return c.write(text) // it belongs to the list of another key
	}
	if err := c.flush(); err != nil {
		return err
	}
	c.inside = false
	key, rest, ok := cutKey(text)
	switch {
	case string(bytes.TrimSpace(text)) == "---" && len(c.top) == 0:
		return nil
	case !ok:
		return errOtherForm
	case c.top[key]:
		return fmt.Errorf("key %q occurs twice", key)
	}
	c.top[key] = true
	if key != "entries" {
		return c.write(text)
	}
	switch rest {
	case "":
		c.inside = true
		return nil
	case "{}", "null", "~":
		return nil
	}
	return errOtherForm
}

// chart begins the entries of a chart.
func (c *cutter) chart(body []byte) error {
	if err := c.flush(); err != nil {
		return err
	}
	key, _, ok := cutKey(body)
	if !ok {
		return errOtherForm
	}
	c.name = key
	c.text.Write(bytes.Repeat([]byte{' '}, c.indent))
	return c.write(body)
}

// flush passes the chart that ends here to keep.
func (c *cutter) flush() error {
	if c.name == "" {
		return nil
	}
	err := c.keep(c.name, c.text.Bytes())
	c.name = ""
	c.text.Reset()
	return err
}

func (c *cutter) write(text []byte) error {
	to, most := &c.head, maxHead
	if c.name != "" {
		to, most = &c.text, maxChartBytes
	}
	to.Write(text)
	to.WriteByte('\n')
	if to.Len() > most {
		return fmt.Errorf("%s is larger than %d MiB", orHead(c.name), most>>20)
	}
	return nil
}

func orHead(name string) string {
	if name == "" {
		return "the part of the index outside its charts"
	}
	return fmt.Sprintf("chart %q", name)
}

// cutKey splits "key: value". ok is false unless the key, quoted or not, is plain.
func cutKey(text []byte) (key, rest string, ok bool) {
	line := strings.TrimRight(string(text), " \r")
	if line == "" {
		return "", "", false
	}
	if quote := line[0]; quote == '"' || quote == '\'' {
		end := strings.IndexByte(line[1:], quote)
		if end < 0 {
			return "", "", false
		}
		key, rest = line[1:end+1], line[end+2:]
	} else if key, rest, ok = strings.Cut(line, ":"); ok {
		rest = ":" + rest
	}
	value, colon := strings.CutPrefix(rest, ":")
	if !colon || value != "" && value[0] != ' ' || !plainKey(key) {
		return "", "", false
	}
	value, _, _ = strings.Cut(value, " #")
	return key, strings.TrimSpace(value), true
}

// plainKey reports whether a key consists of letters, digits and . _ - / and begins with neither
// dash nor dot.
func plainKey(key string) bool {
	if key == "" || strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/") != "" {
		return false
	}
	return key[0] != '-' && key[0] != '.'
}
