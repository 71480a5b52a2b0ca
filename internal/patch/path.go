package patch

import (
	"strconv"
	"strings"
)

// join adds a field to a path. Names with dots are quoted in brackets:
// "metadata.labels[app.kubernetes.io/name]".
func join(path, key string) string {
	switch {
	case strings.ContainsAny(key, ".[]"):
		return path + "[" + key + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
