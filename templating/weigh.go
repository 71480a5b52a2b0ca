package templating

import (
	"errors"
	"fmt"
	"reflect"
)

// weighAll makes sure that arguments which will be printed, encoded, copied or
// compared all the way down are neither endless nor too large: templates can
// build maps that contain themselves, or one another many times over.
func weighAll(b *budget, args []any) error {
	for _, a := range args {
		if err := b.weighed(a); err != nil {
			return err
		}
	}
	return nil
}

// weighed measures one value and counts the effort.
func (b *budget) weighed(v any) error {
	switch v.(type) {
	case string, nil, bool, int, int64, float64:
		return nil
	}
	s := &scale{nodes: maxValueNodes, bytes: maxBytes - b.bytes}
	if err := s.weigh(v, 0); err != nil {
		return err
	}
	return b.step(maxValueNodes - s.nodes)
}

// scale counts down what a value may still have.
type scale struct{ nodes, bytes int }

func (s *scale) weigh(v any, depth int) error {
	s.nodes--
	s.bytes -= 2 * depth
	switch {
	case depth > maxValueDepth:
		return errors.New("the value is nested too deeply; does it contain itself?")
	case s.nodes < 0:
		return fmt.Errorf("the value has more than %d parts; does it contain itself many times?", maxValueNodes)
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
	case Values:
		return s.table(v, depth)
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

func (s *scale) table(m map[string]any, depth int) error {
	for k, e := range m {
		s.bytes -= len(k)
		if err := s.weigh(e, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (s *scale) other(v reflect.Value, depth int) error {
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() <= reflect.Complex128 {
			s.bytes -= 4 * v.Len()
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
