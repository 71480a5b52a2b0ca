package apitypes

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
)

// Zero reports whether the API server can't tell the value from an absent one.
func Zero(v any, n *Node) bool {
	if v == nil {
		return true
	}
	if !n.DropsZero() {
		return false
	}
	switch v := jsontree.Number(v).(type) {
	case string:
		return v == "" || n.form == FormQuantity && equalQuantity(v, "0")
	case bool:
		return !v
	case int64:
		return v == 0
	case []any:
		return len(v) == 0
	case map[string]any:
		if n.form != FormStruct {
			return len(v) == 0 && n.form == FormMap
		}
		for k, e := range v {
			if !Zero(e, n.Child(k)) {
				return false
			}
		}
		return true
	}
	return false
}

// Equal reports whether two values are the same as the API server would read
// them. nil is "not given". The order of lists matters.
func Equal(a, b any, n *Node) bool {
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
	return Zero(a, n) && Zero(b, n)
}

func equalMaps(a, b map[string]any, n *Node) bool {
	if jsontree.Identical(a, b) {
		return true
	}
	for k, av := range a {
		if !Equal(av, b[k], n.Child(k)) {
			return false
		}
	}
	for k, bv := range b {
		if _, ok := a[k]; !ok && !Zero(bv, n.Child(k)) {
			return false
		}
	}
	return true
}

func equalLists(a, b []any, n *Node) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Equal(a[i], b[i], n.Item()) {
			return false
		}
	}
	return true
}

// equalScalars reports whether two scalars are the same as the API server would
// read them, such as "1" and "1000m" for a quantity. Maps and lists are never equal.
func equalScalars(a, b any, n *Node) bool {
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	if a == b {
		return true
	}
	a, b = jsontree.Number(a), jsontree.Number(b)
	if a == b {
		return true
	}
	if n == nil || a == nil || b == nil {
		return false
	}
	switch n.form {
	case FormQuantity:
		return equalQuantity(a, b)
	case FormTime:
		return equalTime(a, b)
	case FormDuration:
		return equalDuration(a, b)
	case FormBytes:
		return equalBytes(a, b)
	case FormAny, FormStruct, FormMap, FormList, FormScalar:
	}
	return false
}

func equalQuantity(a, b any) bool {
	qa, ok := ParseQuantity(a)
	if !ok {
		return false
	}
	qb, ok := ParseQuantity(b)
	return ok && qa.Cmp(qb) == 0
}

// ParseQuantity reads a quantity from a string, int64 or float64; ok is false for
// other types and for text that is not a quantity the API server would keep.
func ParseQuantity(v any) (resource.Quantity, bool) {
	var text string
	switch v := v.(type) {
	case string:
		text = v
	case int64:
		return *resource.NewQuantity(v, resource.DecimalSI), true
	case float64:
		text = strconv.FormatFloat(v, 'g', -1, 64)
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

// equalBytes compares base64 as the API server reads it: line breaks in it are
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
