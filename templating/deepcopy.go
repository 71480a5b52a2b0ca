package templating

import "maps"

// copier is a function of sprig's that copies values all the way down. What values and files consist of is
// copied at once: sprig's (github.com/mitchellh/copystructure v1.2.0) goes through a file byte by byte, half a
// second for 2 MB. Templates can't change bytes, so the copy of a file has those of the original.
type copier func(any) (any, error)

func newCopier(theirs copier) copier {
	return func(v any) (any, error) {
		if v == nil {
			return theirs(v) // an error
		}
		return theirs.copy(v)
	}
}

// copy returns a copy of v, with theirs for other types.
func (theirs copier) copy(v any) (any, error) {
	switch v := v.(type) {
	case nil, string, bool, int, int64, float64, []byte:
		return v, nil
	case map[string]any:
		return theirs.table(v)
	case Values:
		t, err := theirs.table(v)
		return Values(t), err
	case []any:
		return theirs.list(v)
	case Files:
		return maps.Clone(v), nil
	}
	return theirs(v)
}

func (theirs copier) table(t map[string]any) (_ map[string]any, err error) {
	if t == nil {
		return nil, nil
	}
	out := make(map[string]any, len(t))
	for k, v := range t {
		if out[k], err = theirs.copy(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (theirs copier) list(l []any) (_ []any, err error) {
	if l == nil {
		return nil, nil
	}
	out := make([]any, len(l), cap(l)) // "slice" shows the capacity
	for i, v := range l {
		if out[i], err = theirs.copy(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}
