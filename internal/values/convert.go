package values

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// converter turns the YAML library's result into what a round trip through JSON, as in Helm, would
// return: string keys and float64 numbers. Unlike the round trip, it limits how far aliases expand.
type converter struct {
	// room is how many bytes the document may still take as text.
	room     int
	path     []string
	warnings []string
}

func (c *converter) value(v any) (any, error) {
	if len(c.path) > maxYAMLDepth {
		return nil, fmt.Errorf("it nests deeper than %d levels", maxYAMLDepth)
	}
	switch v := v.(type) {
	case map[any]any:
		return c.table(v)
	case []any:
		return c.list(v)
	}
	return c.scalar(v)
}

func (c *converter) table(in map[any]any) (any, error) {
	out := make(map[string]any, len(in))
	for k, v := range in {
		key, err := keyText(k)
		if err != nil {
			return nil, c.at(err)
		}
		if err := c.spend(len(key) + 1); err != nil {
			return nil, err
		}
		c.path = append(c.path, key)
		out[key], err = c.value(v)
		c.path = c.path[:len(c.path)-1]
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c *converter) list(in []any) (any, error) {
	out := make([]any, len(in))
	for i, v := range in {
		c.path = append(c.path, "[]")
		e, err := c.value(v)
		c.path = c.path[:len(c.path)-1]
		if err != nil {
			return nil, err
		}
		out[i] = e
	}
	return out, nil
}

func (c *converter) scalar(v any) (any, error) {
	size := 8
	if s, ok := v.(string); ok {
		size = len(s) + 1
	}
	if err := c.spend(size); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case nil, bool:
		return v, nil
	case string:
		return validText(v), nil
	case int:
		return c.whole(float64(v), strconv.Itoa(v)), nil
	case int64:
		return c.whole(float64(v), strconv.FormatInt(v, 10)), nil
	case uint64:
		return c.whole(float64(v), strconv.FormatUint(v, 10)), nil
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil, c.at(fmt.Errorf("%v is not a number in JSON", v))
		}
		return v, nil
	case time.Time:
		return v.Format(time.RFC3339Nano), nil
	default:
		return nil, c.at(fmt.Errorf("%T can't be written as JSON", v))
	}
}

// whole warns about integers that change when they become a float64.
func (c *converter) whole(f float64, text string) float64 {
	if strconv.FormatFloat(f, 'f', 0, 64) != text {
		c.warnings = append(c.warnings, inexact(c.path, text, f))
	}
	return f
}

func (c *converter) spend(n int) error {
	c.room -= n
	if c.room < 0 {
		return fmt.Errorf("it grows beyond %d bytes once its aliases are written out", maxExpandedBytes)
	}
	return nil
}

func (c *converter) where() string {
	if len(c.path) == 0 {
		return "top level"
	}
	return strings.Join(c.path, ".")
}

func (c *converter) at(err error) error { return fmt.Errorf("%s: %w", c.where(), err) }

// validText replaces every byte that is not valid UTF-8 (!!binary can contain some).
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// keyText returns the JSON key for a YAML key. Float keys are formatted with single precision, as
// in sigs.k8s.io/yaml (convertToJSONableObject).
func keyText(k any) (string, error) {
	switch k := k.(type) {
	case string:
		return validText(k), nil
	case int:
		return strconv.Itoa(k), nil
	case int64:
		return strconv.FormatInt(k, 10), nil
	case bool:
		return strconv.FormatBool(k), nil
	case float64:
		switch s := strconv.FormatFloat(k, 'g', -1, 32); s {
		case "+Inf":
			return ".inf", nil
		case "-Inf":
			return "-.inf", nil
		case "NaN":
			return ".nan", nil
		default:
			return s, nil
		}
	case nil:
		return "", errors.New("a key is null")
	default:
		return "", fmt.Errorf("%v (%T) can't be a key", k, k)
	}
}

// kind names the type of a value in the terms of YAML.
func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "a table"
	case []any:
		return "a list"
	case string:
		return "text"
	case bool:
		return "a boolean"
	default:
		return "a number"
	}
}
