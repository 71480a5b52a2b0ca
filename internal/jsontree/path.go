package jsontree

import (
	"strings"
)

// emptyKey is how a path names a field whose key is "".
const emptyKey = `[""]`

// Join appends a field to a path. Names with dots, brackets or backslashes are put in brackets:
// "metadata.labels[app.kubernetes.io/name]".
func Join(path, key string) string {
	switch {
	case key == "":
		return path + emptyKey
	case strings.ContainsAny(key, `.[]\`):
		return path + "[" + key + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// SplitPath splits a change's path into its parts: dots separate fields, brackets
// hold list keys and map keys that contain dots. What follows metadata.labels or
// metadata.annotations is one key.
func SplitPath(path string) []string { return split(path, false) }

// Fields returns the parts of a path as SplitPath does, except that what is in brackets is "": an
// item of a list may be named like a field.
func Fields(path string) []string { return split(path, true) }

func split(path string, blank bool) []string {
	var parts []string
	for rest := path; rest != ""; {
		bracket, empty := rest[0] == '[', strings.HasPrefix(rest, emptyKey)
		var part string
		part, rest = nextPart(rest)
		switch {
		case blank && bracket:
			part = ""
		case part == "" && !empty:
			continue
		}
		parts = append(parts, part)
		if key, ok := metadataKey(parts, rest); ok {
			return append(parts, key)
		}
	}
	return parts
}

// nextPart splits off the first part of a path, without brackets, quotes and backslashes.
func nextPart(path string) (part, rest string) {
	if path[0] == '[' {
		if end := strings.IndexByte(path, ']'); end > 0 {
			return strings.Trim(path[1:end], `"'`), path[end+1:]
		}
		return path[1:], ""
	}
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		switch path[i] {
		case '\\':
			if i+1 < len(path) {
				i++
				b.WriteByte(path[i])
			}
		case '.':
			return b.String(), path[i+1:]
		case '[':
			return b.String(), path[i:]
		default:
			b.WriteByte(path[i])
		}
	}
	return b.String(), ""
}

// metadataKey returns the rest of a path below metadata.labels or
// metadata.annotations as one key, and whether the path is there.
func metadataKey(parts []string, rest string) (string, bool) {
	if n := len(parts); n < 2 || rest == "" || parts[n-2] != "metadata" ||
		parts[n-1] != "labels" && parts[n-1] != "annotations" {
		return "", false
	}
	if rest[0] == '[' {
		rest = strings.Trim(rest, `[]"'`)
	}
	return strings.ReplaceAll(rest, `\.`, "."), true
}
