package patch

import (
	"encoding/base64"
	stdjson "encoding/json"
	"math"

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

// prepare copies a document, less what takes no part in a merge. Whole numbers
// become int64, a Secret's stringData is folded into its data.
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
		for k := range meta {
			if serverOwned(k) {
				delete(meta, k)
			}
		}
	}
	if isSecret(u) {
		foldStringData(doc)
	}
	return doc
}

func isSecret(u *unstructured.Unstructured) bool {
	return u.GetKind() == "Secret" && u.GetAPIVersion() == "v1"
}

// foldStringData does what the API server does on write. Values that are not
// strings stay, for the server to reject.
func foldStringData(doc map[string]any) {
	plain, ok := doc["stringData"].(map[string]any)
	if !ok {
		delete(doc, "stringData")
		return
	}
	data, ok := doc["data"].(map[string]any)
	if !ok {
		data = map[string]any{}
	}
	for k, v := range plain {
		if v == nil {
			v = ""
		}
		if s, ok := v.(string); ok {
			data[k] = base64.StdEncoding.EncodeToString([]byte(s))
			delete(plain, k)
		}
	}
	doc["data"] = data
	if len(plain) == 0 {
		delete(doc, "stringData")
	}
}

// canonical deep-copies a JSON value and writes every whole number as int64.
func canonical(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = canonical(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = canonical(e)
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
