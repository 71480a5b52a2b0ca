package cluster

import (
	"bytes"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// withoutManagedFields decodes objects without their managedFields. These are about half of the API
// server's responses; cut out of the text, they cost neither time nor memory.
type withoutManagedFields struct{ runtime.NegotiatedSerializer }

// DecoderToVersion implements runtime.NegotiatedSerializer.
func (w withoutManagedFields) DecoderToVersion(d runtime.Decoder, gv runtime.GroupVersioner) runtime.Decoder {
	return unmanagedDecoder{w.NegotiatedSerializer.DecoderToVersion(d, gv)}
}

type unmanagedDecoder struct{ runtime.Decoder }

// Decode implements runtime.Decoder.
func (d unmanagedDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	data, _ = cutManagedFields(data)
	if object, ok := into.(*unstructured.Unstructured); ok && decodeObject(data, object) {
		gvk := object.GroupVersionKind()
		return object, &gvk, nil
	}
	return d.Decoder.Decode(data, defaults, into)
}

// decodeObject decodes an object as apimachinery's decoder does, but reads the text once, not
// twice. It returns false for anything but an object with a kind and a version, for which that
// decoder reports the error.
func decodeObject(data []byte, into *unstructured.Unstructured) bool {
	var decoded map[string]any
	if utiljson.Unmarshal(data, &decoded) != nil {
		return false
	}
	into.Object = decoded
	apiVersion, ok := decoded["apiVersion"].(string)
	_, err := schema.ParseGroupVersion(apiVersion)
	return ok && err == nil && into.GetKind() != ""
}

// cutManagedFields returns a JSON object without its metadata.managedFields, as a new text, and the
// managedFields, nil if there are none. Any other JSON is returned unchanged.
func cutManagedFields(text []byte) (rest, managed []byte) {
	metadata, ok := member(text, 0, `"metadata"`)
	if !ok {
		return text, nil
	}
	fields, ok := member(text, metadata.value, `"managedFields"`)
	if !ok {
		return text, nil
	}
	from, to := fields.key, fields.end
	if next := skipSpace(text, to); next < len(text) && text[next] == ',' {
		to = next + 1
	} else if from = lastByte(text[:from], ','); from < metadata.value {
		from = fields.key // it is the only one
	}
	rest = make([]byte, 0, len(text)-(to-from))
	return append(append(rest, text[:from]...), text[to:]...), text[fields.value:fields.end]
}

// lastByte returns the last index of b in text, -1 if there is none.
func lastByte(text []byte, b byte) int { return bytes.LastIndexByte(text, b) }

// span is the position of a member in a JSON object: where its key and its value begin, and where
// its value ends.
type span struct{ key, value, end int }

// member finds a key, given with its quotes, in the JSON object that begins at at or after white
// space there. Keys that are written with escapes are not found.
func member(text []byte, at int, key string) (span, bool) {
	at = skipSpace(text, at)
	if at >= len(text) || text[at] != '{' {
		return span{}, false
	}
	for {
		s := span{key: skipSpace(text, at+1)}
		if s.key >= len(text) || text[s.key] != '"' {
			return span{}, false
		}
		end := skipString(text, s.key)
		colon := skipSpace(text, end)
		if colon >= len(text) || text[colon] != ':' {
			return span{}, false
		}
		s.value = skipSpace(text, colon+1)
		s.end = skipValue(text, s.value)
		if s.end > len(text) {
			return span{}, false
		}
		if string(text[s.key:end]) == key {
			return s, true
		}
		at = skipSpace(text, s.end)
		if at >= len(text) || text[at] != ',' {
			return span{}, false
		}
	}
}

func skipSpace(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r') {
		at++
	}
	return at
}

// skipString returns the end of the string that begins at at; it is beyond the text if the string
// is not closed.
func skipString(text []byte, at int) int {
	for at++; at < len(text); at++ {
		switch text[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
	return len(text) + 1
}

// skipValue is skipString for any value.
func skipValue(text []byte, at int) int {
	depth := 0
	for at < len(text) {
		switch text[at] {
		case '"':
			at = skipString(text, at)
			if depth == 0 {
				return at
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return at
			}
			if depth--; depth == 0 {
				return at + 1
			}
		case ',':
			if depth == 0 {
				return at
			}
		}
		at++
	}
	return len(text) + 1
}
