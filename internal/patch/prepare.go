package patch

import (
	"encoding/base64"
	stdjson "encoding/json"
	"maps"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
)

func unmarshal(data []byte, into *map[string]any) error { return json.Unmarshal(data, into) }

// serverOwned says that the API server writes the field whatever is sent.
func serverOwned(key string) bool {
	switch key {
	case "managedFields", "resourceVersion", "uid", "generation", "creationTimestamp", "selfLink",
		"deletionTimestamp", "deletionGracePeriodSeconds":
		return true
	}
	return false
}

// apart says that a top-level field takes no part in a merge: the identity,
// and the status, which belongs to controllers.
func apart(key string) bool {
	switch key {
	case "apiVersion", "kind", "status":
		return true
	}
	return false
}

// prepare gives a document less what takes no part in a merge. Whole numbers
// are int64, a Secret's stringData is folded into its data. What need not change
// is shared with the document, so the result is only read.
func prepare(u *unstructured.Unstructured) map[string]any {
	if u == nil {
		return nil
	}
	doc := make(map[string]any, len(u.Object))
	for k, v := range u.Object {
		if !apart(k) {
			doc[k] = canonical(v)
		}
	}
	if meta, ok := doc["metadata"].(map[string]any); ok {
		own := make(map[string]any, len(meta))
		for k, v := range meta {
			if !serverOwned(k) {
				own[k] = v
			}
		}
		doc["metadata"] = own
	}
	if isSecret(u) {
		foldStringData(doc)
	}
	return doc
}

func isSecret(u *unstructured.Unstructured) bool {
	return u != nil && u.GetKind() == "Secret" && u.GetAPIVersion() == "v1"
}

// foldStringData does what the API server does on write. Values that are not
// strings stay, for the server to reject.
func foldStringData(doc map[string]any) {
	plain, ok := doc["stringData"].(map[string]any)
	delete(doc, "stringData")
	if !ok {
		return
	}
	data, rest := map[string]any{}, map[string]any{}
	if given, ok := doc["data"].(map[string]any); ok {
		maps.Copy(data, given)
	}
	for k, v := range plain {
		if v == nil {
			v = ""
		}
		if s, ok := v.(string); ok {
			data[k] = base64.StdEncoding.EncodeToString([]byte(s))
		} else {
			rest[k] = v
		}
	}
	doc["data"] = data
	if len(rest) > 0 {
		doc["stringData"] = rest
	}
}

// canonical is a JSON value with every whole number written as int64: the value
// itself where that is so already. A nil map or list becomes an empty one.
func canonical(v any) any {
	if isCanonical(v) {
		return v
	}
	return copied(v)
}

func isCanonical(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if !isCanonical(e) {
				return false
			}
		}
		return v != nil
	case []any:
		return v != nil && !slices.ContainsFunc(v, func(e any) bool { return !isCanonical(e) })
	case nil, string, bool, int64:
		return true
	}
	return number(v) == v
}

// copied is canonical with nothing shared: who gets it may change it.
func copied(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = copied(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = copied(e)
		}
		return out
	}
	return number(v)
}

// number gives whole numbers of any Go type as int64, other numbers as
// float64, and everything else as it is.
func number(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case int32:
		return int64(v)
	case uint64:
		if v <= math.MaxInt64 {
			return int64(v)
		}
	case float32:
		return number(float64(v))
	case float64:
		// Beyond 2^53 a float no longer says which whole number was meant.
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v)
		}
	case stdjson.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		if f, err := v.Float64(); err == nil {
			return number(f)
		}
	}
	return v
}
