package values

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// errEnd says that the argument has ended. What was assigned before stays: "a[0]" creates an empty
// list and is not an error.
var errEnd = errors.New("end of the argument")

// syntaxError is an error about text that is no key with a value. It quotes the text.
type syntaxError string

func (e syntaxError) Error() string { return string(e) }

// setter applies one argument in the syntax of --set to a table. It reproduces Helm 4.3.1's grammar
// (https://github.com/helm/helm/blob/v4.3.1/pkg/strvals/parser.go) with its corner cases: it accepts
// and refuses the same arguments, and sets the same values.
type setter struct {
	in input
	// scalars reads the value after "=".
	scalars scalarReader
	// slots is how many entries may still be added to lists.
	slots *int
}

// scalarReader reads the value after "=". It returns errEnd for a missing value where Helm
// distinguishes that from an empty text.
type scalarReader interface {
	read(in *input) (any, error)
	// keyEnds returns the runes that end a key.
	keyEnds() string
}

// apply sets all values of the argument in dest. What is no key with a value after a comma may be the rest of
// a value, such as a password, and is not quoted.
func (s *setter) apply(dest map[string]any) error {
	for before := ""; ; {
		start := s.in.pos
		err := s.key(dest, 0)
		_, noKey := errors.AsType[syntaxError](err)
		switch {
		case errors.Is(err, errEnd):
			return nil
		case noKey && start > 0:
			return fmt.Errorf(`what follows the comma in the value of %q is not KEY=VALUE; if the comma belongs to the value, write \, in quotes`, before)
		case err != nil:
			return err
		}
		before, _, _ = strings.Cut(s.in.text[start:], "=")
	}
}

// key reads one key with its value. dots is the number of dots before it.
func (s *setter) key(dest map[string]any, dots int) error {
	name, stop, ended := s.in.until(s.scalars.keyEnds())
	if ended {
		if name == "" {
			return errEnd
		}
		return syntaxError(fmt.Sprintf("key %q has no value", name))
	}
	switch stop {
	case '[':
		return s.listKey(dest, name, dots)
	case '.':
		return s.tableKey(dest, name, dots+1)
	case '=':
		v, err := s.scalars.read(&s.in)
		if err != nil && !errors.Is(err, errEnd) {
			return fmt.Errorf("value of key %q: %w", name, err)
		}
		put(dest, name, v)
		return err
	default:
		return syntaxError(fmt.Sprintf("key %q has no value (it ends with %q)", name, stop))
	}
}

func (s *setter) tableKey(dest map[string]any, name string, dots int) error {
	if dots > maxSetNesting {
		return fmt.Errorf("a key nests deeper than %d levels", maxSetNesting)
	}
	inner := map[string]any{}
	if v, ok := dest[name]; ok {
		t, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("key %q is %s, not a table", name, kind(v))
		}
		inner = t
	}
	err := s.key(inner, dots)
	if err == nil && len(inner) == 0 {
		return fmt.Errorf("table %q gets no value", name)
	}
	if len(inner) != 0 {
		put(dest, name, inner)
	}
	return err
}

func (s *setter) listKey(dest map[string]any, name string, dots int) error {
	i, err := s.index()
	if err != nil {
		return err
	}
	list := []any{}
	if v, ok := dest[name]; ok {
		if list, ok = v.([]any); !ok {
			return fmt.Errorf("key %q is %s, not a list", name, kind(v))
		}
	}
	list, err = s.element(list, i, dots)
	put(dest, name, list)
	return err
}

// index reads the number before "]".
func (s *setter) index() (int, error) {
	text, _, ended := s.in.until("]")
	if ended {
		return 0, errEnd
	}
	i, err := strconv.Atoi(text)
	if err != nil {
		return 0, syntaxError(fmt.Sprintf("index [%s] is not a number", text))
	}
	if i < 0 {
		return 0, fmt.Errorf("index [%d] is negative", i)
	}
	return i, nil
}

// element reads what follows "[i]" and returns the changed list.
func (s *setter) element(list []any, i, dots int) ([]any, error) {
	text, stop, ended := s.in.until("[.=")
	switch {
	case text != "":
		return list, syntaxError(fmt.Sprintf("unexpected %q after index [%d]", text, i))
	case ended:
		return list, errEnd
	case stop == '=':
		return s.scalarElement(list, i)
	case stop == '[':
		return s.listElement(list, i, dots)
	default:
		return s.tableElement(list, i, dots)
	}
}

func (s *setter) scalarElement(list []any, i int) ([]any, error) {
	v, err := s.scalars.read(&s.in)
	if err != nil && !errors.Is(err, errEnd) {
		return list, fmt.Errorf("value of index [%d]: %w", i, err)
	}
	return s.setIndex(list, i, v)
}

func (s *setter) listElement(list []any, i, dots int) ([]any, error) {
	next, err := s.index()
	if err != nil {
		return list, err
	}
	var inner []any
	if i < len(list) && list[i] != nil {
		var ok bool
		if inner, ok = list[i].([]any); !ok {
			return list, fmt.Errorf("index [%d] is %s, not a list", i, kind(list[i]))
		}
	}
	inner, err = s.element(inner, next, dots)
	if err != nil {
		return list, err
	}
	return s.setIndex(list, i, inner)
}

func (s *setter) tableElement(list []any, i, dots int) ([]any, error) {
	inner := map[string]any{}
	if i < len(list) {
		if t, ok := list[i].(map[string]any); ok {
			inner = t
		}
		list[i] = inner
	}
	if err := s.key(inner, dots); err != nil {
		return list, err
	}
	return s.setIndex(list, i, inner)
}

// setIndex sets an entry and fills the list with nulls up to it.
func (s *setter) setIndex(list []any, i int, v any) ([]any, error) {
	if i > maxSetIndex {
		return list, fmt.Errorf("index [%d] is greater than the limit of %d", i, maxSetIndex)
	}
	if grow := i + 1 - len(list); grow > 0 {
		if *s.slots -= grow; *s.slots < 0 {
			return list, fmt.Errorf("lists grow beyond %d entries in all", maxSetSlots)
		}
		list = append(list, make([]any, grow)...)
	}
	list[i] = v
	return list, nil
}

// put sets a value, unless the key is empty, which Helm ignores.
func put(dest map[string]any, key string, v any) {
	if key != "" {
		dest[key] = v
	}
}
