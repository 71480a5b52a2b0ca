package budget

import (
	"errors"
	"fmt"
	"reflect"
)

// weighAll makes sure that arguments that will be printed, encoded, copied or
// compared all the way down are neither endless nor too large: templates can
// build maps that contain themselves, or one another many times over.
func weighAll(b *Budget, args []any) error {
	for _, a := range args {
		if err := b.CheckSize(a); err != nil {
			return err
		}
	}
	return nil
}

// weighBy is weighAll for functions that take a number of steps for each part of
// a value, read its text byte by byte and can make it growth times as long.
func weighBy(steps, growth int) guard { return weigh(steps, growth, readBytes) }

// weighCopied is weighBy for functions that copy text as it is.
func weighCopied(steps, growth int) guard { return weigh(steps, growth, copiedBytes) }

// weigh is weighBy for functions that read that many bytes in the time of a step.
func weigh(steps, growth, read int) guard {
	return func(b *Budget, args []any) error {
		before := b.Steps
		bytes := 0
		for _, a := range args {
			n, err := b.measure(a)
			if err != nil {
				return err
			}
			bytes += n
		}
		if err := b.Room(product(bytes, growth)); err != nil {
			return err
		}
		return b.Step((steps-1)*(b.Steps-before) + bytes/read)
	}
}

// CheckSize returns an error if a value is endless or too large, and counts the
// steps of measuring it.
func (b *Budget) CheckSize(v any) error {
	_, err := b.measure(v)
	return err
}

// measure is CheckSize, and also returns how many bytes the value's texts have in all.
func (b *Budget) measure(v any) (int, error) {
	switch v := v.(type) {
	case nil, bool, int, int64, float64:
		return 0, nil
	case string:
		return len(v), nil
	}
	room := MaxBytes - b.Bytes
	s := &valueSize{nodes: MaxValueNodes, bytes: room}
	if err := s.weigh(v, 0); err != nil {
		return 0, err
	}
	return room - s.bytes, b.Step(MaxValueNodes - s.nodes)
}

var (
	errNodes = fmt.Errorf("the value has more than %d parts; does it contain itself many times?", MaxValueNodes)
	errDepth = errors.New("the value is nested too deeply; does it contain itself?")
)

// valueSize counts down what a value may still have.
type valueSize struct{ nodes, bytes int }

func (s *valueSize) weigh(v any, depth int) error {
	s.nodes--
	s.bytes -= 2 * depth
	switch {
	case depth > MaxValueDepth:
		return errDepth
	case s.nodes < 0:
		return errNodes
	case s.bytes < 0:
		return errBytes
	}
	switch v := v.(type) {
	case string:
		s.bytes -= len(v)
		return nil
	case nil, bool, int, int64, float64:
		return nil
	case map[string]any:
		return s.table(v, depth)
	case interface{ AsMap() map[string]any }: // the tables that templates are given
		return s.table(v.AsMap(), depth)
	case []any:
		for _, e := range v {
			if err := s.weigh(e, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return s.other(reflect.ValueOf(v), depth)
}

func (s *valueSize) table(m map[string]any, depth int) error {
	for k, e := range m {
		s.bytes -= len(k)
		if err := s.weigh(e, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (s *valueSize) other(v reflect.Value, depth int) error {
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		if kind := v.Type().Elem().Kind(); kind == reflect.Uint8 {
			s.bytes -= v.Len()
			return nil
		} else if kind <= reflect.Complex128 {
			s.bytes -= 4 * v.Len()
			if s.nodes -= v.Len(); s.nodes < 0 {
				return errNodes
			}
			return nil
		}
		for i := range v.Len() {
			if err := s.weigh(v.Index(i).Interface(), depth+1); err != nil {
				return err
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if err := s.weigh(it.Value().Interface(), depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// SizeOf estimates the memory of a result: the length of a text, 16 bytes for each item of a list,
// and the size of a small map.
func SizeOf(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []any:
		return len(v) * 16
	case []string:
		return len(v) * 16
	case []int:
		return len(v) * 8
	case nil:
		return 0
	case map[string]any:
		return 360 + len(v)*48
	}
	if rv := reflect.ValueOf(v); rv.Kind() == reflect.Map || rv.Kind() == reflect.Slice {
		return rv.Len() * 48
	}
	return 0
}

// memoryOf estimates the memory of all maps and lists within a value. A map has room for eight entries at first
// (Go 1.26, internal/runtime/maps).
func memoryOf(v any) int {
	n := 0
	switch v := v.(type) {
	case map[string]any:
		if n = 48; len(v) > 0 {
			n = max(340, 60*len(v))
		}
		for _, e := range v {
			n += memoryOf(e)
		}
	case interface{ AsMap() map[string]any }:
		return memoryOf(v.AsMap())
	case []any:
		n = 24 + 16*len(v)
		for _, e := range v {
			n += memoryOf(e)
		}
	}
	return n
}
