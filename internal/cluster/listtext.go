package cluster

import (
	"bytes"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// listPage is one page of a LIST, with the items as JSON.
type listPage struct {
	Metadata metav1.ListMeta   `json:"metadata"`
	Items    []json.RawMessage `json:"items"`
}

// readPage splits a page into its items, which are parts of text and are decoded one by one later.
// A page that can't be split in this simple way is decoded by encoding/json, which reads the text
// twice more.
func readPage(text []byte) (page listPage, err error) {
	metadata, described := member(text, 0, `"metadata"`)
	items, ok := elements(text)
	if !described || !ok {
		return page, json.Unmarshal(text, &page)
	}
	page.Items = items
	return page, json.Unmarshal(text[metadata.value:metadata.end], &page.Metadata)
}

// elements returns the items of a list, as parts of text; ok is false when they are not found.
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

// closed reports whether the rest of an object after one of its members is complete.
func closed(text []byte, at int) bool {
	for at = skipSpace(text, at); at < len(text) && (text[at] == ',' || text[at] == ':'); {
		at = skipSpace(text, skipValue(text, skipSpace(text, at+1)))
	}
	return at < len(text) && text[at] == '}'
}

// shareFields makes equal FieldsV1 of entries at the same positions share memory.
func shareFields(entries, others []metav1.ManagedFieldsEntry) {
	for i := range min(len(entries), len(others)) {
		own, other := entries[i].FieldsV1, others[i].FieldsV1
		if own != nil && other != nil && bytes.Equal(own.GetRawBytes(), other.GetRawBytes()) {
			entries[i].FieldsV1 = other
		}
	}
}
