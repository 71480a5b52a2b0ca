package cluster

import (
	"bytes"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// listPage is one page of a LIST, the items as the server wrote them.
type listPage struct {
	Metadata metav1.ListMeta   `json:"metadata"`
	Items    []json.RawMessage `json:"items"`
}

// readPage cuts a page into its items, which are parts of text: each is decoded by itself,
// so that decoding all of them here would be reading everything twice more. What is not cut that
// simply is decoded.
func readPage(text []byte) (page listPage, err error) {
	metadata, described := member(text, 0, `"metadata"`)
	items, ok := elements(text)
	if !described || !ok {
		return page, json.Unmarshal(text, &page)
	}
	page.Items = items
	return page, json.Unmarshal(text[metadata.value:metadata.end], &page.Metadata)
}

// elements are the items of a list, as parts of text; ok is false when they are not found.
func elements(text []byte) (items []json.RawMessage, ok bool) {
	list, found := member(text, 0, `"items"`)
	if !found || text[list.value] != '[' {
		return nil, false
	}
	at := skipSpace(text, list.value+1)
	for text[at] != ']' {
		end := skipValue(text, at)
		items = append(items, text[at:end:end])
		if at = skipSpace(text, end); at >= list.end || text[at] != ',' && text[at] != ']' {
			return nil, false
		}
		if text[at] == ',' {
			at = skipSpace(text, at+1)
		}
	}
	return items, at+1 == list.end && closed(text, list.end)
}

// closed says whether an object ends well behind one of its members.
func closed(text []byte, at int) bool {
	for at = skipSpace(text, at); at < len(text) && (text[at] == ',' || text[at] == ':'); {
		at = skipSpace(text, skipValue(text, skipSpace(text, at+1)))
	}
	return at < len(text) && text[at] == '}'
}

// shareFields keeps once what entries and others, in the same places, say alike.
func shareFields(entries, others []metav1.ManagedFieldsEntry) {
	for i := range min(len(entries), len(others)) {
		own, other := entries[i].FieldsV1, others[i].FieldsV1
		if own != nil && other != nil && bytes.Equal(own.GetRawBytes(), other.GetRawBytes()) {
			entries[i].FieldsV1 = other
		}
	}
}
