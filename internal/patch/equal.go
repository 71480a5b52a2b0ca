package patch

import (
	"encoding/base64"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// zero says that the API server does not tell the value from "not given".
func zero(v any, n *node) bool {
	if v == nil {
		return true
	}
	if !n.dropsZero() {
		return false
	}
	switch v := number(v).(type) {
	case string:
		return v == "" || n.form == formQuantity && equalQuantity(v, "0")
	case bool:
		return !v
	case int64:
		return v == 0
	case []any:
		return len(v) == 0
	case map[string]any:
		if n.form != formStruct {
			return len(v) == 0 && n.form == formMap
		}
		for k, e := range v {
			if !zero(e, n.child(k)) {
				return false
			}
		}
		return true
	}
	return false
}

// equal compares two values as the API server would read them. nil is "not
// given". The order of lists matters.
func equal(a, b any, n *node) bool {
	switch av := a.(type) {
	case map[string]any:
		if bv, ok := b.(map[string]any); ok {
			return equalMaps(av, bv, n)
		}
	case []any:
		if bv, ok := b.([]any); ok {
			return equalLists(av, bv, n)
		}
	default:
		if equalScalars(a, b, n) {
			return true
		}
	}
	return zero(a, n) && zero(b, n)
}

func equalMaps(a, b map[string]any, n *node) bool {
	for k, av := range a {
		if !equal(av, b[k], n.child(k)) {
			return false
		}
	}
	for k, bv := range b {
		if _, ok := a[k]; !ok && !zero(bv, n.child(k)) {
			return false
		}
	}
	return true
}

func equalLists(a, b []any, n *node) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !equal(a[i], b[i], n.item()) {
			return false
		}
	}
	return true
}

func equalScalars(a, b any, n *node) bool {
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	if a == b {
		return true
	}
	a, b = number(a), number(b)
	if a == b {
		return true
	}
	if n == nil || a == nil || b == nil {
		return false
	}
	switch n.form {
	case formQuantity:
		return equalQuantity(a, b)
	case formTime:
		return equalTime(a, b)
	case formDuration:
		return equalDuration(a, b)
	case formBytes:
		return equalBytes(a, b)
	case formAny, formStruct, formMap, formList, formScalar:
	}
	return false
}

func equalQuantity(a, b any) bool {
	qa, ok := quantity(a)
	if !ok {
		return false
	}
	qb, ok := quantity(b)
	return ok && qa.Cmp(qb) == 0
}

func quantity(v any) (resource.Quantity, bool) {
	var text string
	switch v := v.(type) {
	case string:
		text = v
	case int64:
		return *resource.NewQuantity(v, resource.DecimalSI), true
	case float64:
		text = formatFloat(v)
	default:
		return resource.Quantity{}, false
	}
	if !reasonable(text) {
		return resource.Quantity{}, false
	}
	q, err := resource.ParseQuantity(text)
	return q, err == nil
}

// reasonable keeps texts like 1e-99999999 away from the parser, which would
// compute all of their digits. No quantity that the API server keeps is longer.
func reasonable(text string) bool {
	if len(text) > 64 {
		return false
	}
	_, exponent, found := strings.Cut(strings.ToLower(text), "e")
	return !found || len(strings.TrimLeft(exponent, "+-0")) <= 3
}

func equalTime(a, b any) bool {
	ta, ok := parseTime(a)
	if !ok {
		return false
	}
	tb, ok := parseTime(b)
	return ok && ta.Equal(tb)
}

func parseTime(v any) (time.Time, bool) {
	s, _ := v.(string)
	t, err := time.Parse(time.RFC3339Nano, s)
	return t, err == nil
}

func equalDuration(a, b any) bool {
	sa, _ := a.(string)
	sb, _ := b.(string)
	da, errA := time.ParseDuration(sa)
	db, errB := time.ParseDuration(sb)
	return errA == nil && errB == nil && da == db
}

// equalBytes compares base64 as the API server reads it: line breaks inside are
// not part of the value.
func equalBytes(a, b any) bool {
	sa, okA := a.(string)
	sb, okB := b.(string)
	if !okA || !okB {
		return false
	}
	da, errA := base64.StdEncoding.DecodeString(sa)
	db, errB := base64.StdEncoding.DecodeString(sb)
	return errA == nil && errB == nil && string(da) == string(db)
}

// same compares two canonical documents to the letter. It is what
// reflect.DeepEqual says of JSON values, without its price.
func same(a, b any) bool {
	switch av := a.(type) {
	case map[string]any:
		bv, ok := b.(map[string]any)
		return ok && sameMaps(av, bv)
	case []any:
		bv, ok := b.([]any)
		return ok && slices.EqualFunc(av, bv, same)
	case nil, string, bool, int64, float64:
		return a == b
	}
	return reflect.DeepEqual(a, b)
}

func sameMaps(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for k, av := range a {
		if bv, ok := b[k]; !ok || !same(av, bv) {
			return false
		}
	}
	return true
}
