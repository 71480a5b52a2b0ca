package templating

import (
	"errors"
	"reflect"
	"testing"

	"github.com/Masterminds/sprig/v3"
)

// What values and files consist of is copied without sprig's detour, and with its result.
func TestDeepCopy(t *testing.T) {
	theirs := sprig.TxtFuncMap()["mustDeepCopy"].(func(any) (any, error))
	spare := make([]any, 1, 8)
	for _, v := range []any{
		"a", 1, int64(2), 2.5, true,
		map[string]any{"a": nil, "b": map[string]any{}, "c": []any{1, nil, []any{}, map[string]any{"d": "e"}}, "n": map[string]any(nil)},
		Values{"a": Values{"b": 1}},
		map[string]any(nil), []any(nil), spare,
		Files{"a": []byte("text"), "b": {}, "c": nil},
		Files(nil),
		[]byte("text"),
		[]any{[]byte("a")},
		map[string]any{"Files": Files{"a": []byte("text")}, "Values": Values{}},
	} {
		direct, err := newCopier(func(any) (any, error) { return nil, errors.New("sprig's") })(v)
		if err != nil {
			t.Errorf("%T %v: %v", v, v, err)
		}
		want, err := theirs(v)
		if err != nil || !reflect.DeepEqual(direct, want) {
			t.Errorf("%T %v: %#v, sprig's %#v (error %v)", v, v, direct, want, err)
		}
	}
	others := map[string]any{"c": DefaultCapabilities(), "l": []string{"a"}, "u": []any{uint8(1)}}
	got, err := newCopier(theirs)(others)
	want, _ := theirs(others)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%#v, sprig's %#v (error %v)", got, want, err)
	}
	from := map[string]any{"l": []any{1}, "f": Files{"a": []byte("text")}}
	copied, _ := newCopier(theirs)(from)
	from["l"].([]any)[0], from["f"].(Files)["a"] = 2, nil
	if want := (map[string]any{"l": []any{1}, "f": Files{"a": []byte("text")}}); !reflect.DeepEqual(copied, want) {
		t.Errorf("the copy has changed with the original: %v", copied)
	}
}
