package jsontree

import (
	"strings"
	"testing"
)

func TestPathsOfChanges(t *testing.T) {
	for path, want := range map[string]string{
		"spec.containers[web].image":               "spec|containers|web|image",
		"metadata.labels[helm.sh/chart]":           "metadata|labels|helm.sh/chart",
		"metadata.labels.app":                      "metadata|labels|app",
		`metadata.annotations["a.b/c"]`:            "metadata|annotations|a.b/c",
		`spec.template.metadata.labels.helm\.sh/x`: "spec|template|metadata|labels|helm.sh/x",
		"data[nginx.conf]":                         "data|nginx.conf",
		"spec.ports[80,TCP].nodePort":              "spec|ports|80,TCP|nodePort",
		"broken[":                                  "broken",
		"":                                         "",
	} {
		if got := strings.Join(SplitPath(path), "|"); got != want {
			t.Errorf("splitPath(%q) = %s, want %s", path, got, want)
		}
	}
}

// A field below any key is found again, and no key vanishes from its path.
func TestOddKeysInPaths(t *testing.T) {
	for _, key := range []string{"", ".", "[", `\`, `a\`, `a\b`, "a.b", " "} {
		path := Join(Join(Join("", key), key), "x")
		if got, want := strings.Join(SplitPath(path), "|"), key+"|"+key+"|x"; got != want {
			t.Errorf("SplitPath(%q) = %s, want %s", path, got, want)
		}
		if parts := Fields(path); len(parts) != 3 {
			t.Errorf("Fields(%q) = %q", path, parts)
		}
	}
}

// What is in brackets is no field, but labels and annotations keep their names.
func TestFieldsOfAPath(t *testing.T) {
	for path, want := range map[string]string{
		"spec.volumes[metadata].emptyDir":       "spec|volumes||emptyDir",
		"spec.containers[image]":                "spec|containers|",
		"metadata.annotations[checksum/config]": "metadata|annotations|checksum/config",
		"spec.endpoints[metadata].labels.a.b":   "spec|endpoints||labels|a|b",
		"":                                      "",
	} {
		if got := strings.Join(Fields(path), "|"); got != want {
			t.Errorf("Fields(%q) = %s, want %s", path, got, want)
		}
	}
}
