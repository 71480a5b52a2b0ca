package manifest

import (
	"maps"
	"slices"
)

// Images are the container images that objects name, each once, in order: the text of
// every field called image, in pods wherever these are, and in custom resources that call
// it so; and images that are volumes. What a controller makes up from other fields is not
// seen.
func Images(objects []Object) []string {
	found := map[string]bool{}
	for _, o := range objects {
		collectImages(o.Doc.Object, found)
	}
	return slices.Sorted(maps.Keys(found))
}

func collectImages(value any, found map[string]bool) {
	switch v := value.(type) {
	case map[string]any:
		for key, below := range v {
			text, named := below.(string)
			if volume, ok := below.(map[string]any); ok && key == "image" {
				text, named = volume["reference"].(string)
			}
			if key == "image" && named && text != "" {
				found[text] = true
			}
			collectImages(below, found)
		}
	case []any:
		for _, below := range v {
			collectImages(below, found)
		}
	}
}
