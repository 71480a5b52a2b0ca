package manifest

import (
	"maps"
	"slices"
)

// Images returns the container images that objects name, sorted and without repeats: the
// text of every field called image, in pods wherever they are and in custom resources
// that use that name, and images that are mounted as volumes. Images that a controller
// derives from other fields are not seen.
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
