package manifest

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// Label returns one of an object's labels, "" when it does not have it: the value that
// GetLabels has, which copies all of them.
func Label(o *unstructured.Unstructured, key string) string { return metadataText(o, "labels", key) }

// Annotation does the same for annotations.
func Annotation(o *unstructured.Unstructured, key string) string {
	return metadataText(o, "annotations", key)
}

// AddLabels adds labels to an object's own, which are dropped if one of them is not a string, as with
// SetLabels and GetLabels. The object must own its metadata; its labels may be shared.
func AddLabels(o *unstructured.Unstructured, more map[string]string) {
	addMetadata(o, "labels", more)
}

// AddAnnotations does the same for annotations.
func AddAnnotations(o *unstructured.Unstructured, more map[string]string) {
	addMetadata(o, "annotations", more)
}

func metadataText(o *unstructured.Unstructured, field, key string) string {
	texts := metadataTexts(o, field)
	text, _ := texts[key].(string)
	return text
}

// metadataTexts returns a field's values when all of them are strings or null, which means "".
func metadataTexts(o *unstructured.Unstructured, field string) map[string]any {
	metadata, _ := o.Object["metadata"].(map[string]any)
	texts, _ := metadata[field].(map[string]any)
	for _, v := range texts {
		if _, ok := v.(string); !ok && v != nil {
			return nil
		}
	}
	return texts
}

func addMetadata(o *unstructured.Unstructured, field string, more map[string]string) {
	texts := metadataTexts(o, field)
	all := make(map[string]any, len(texts)+len(more))
	for k, v := range texts {
		if v == nil {
			v = ""
		}
		all[k] = v
	}
	for k, v := range more {
		all[k] = v
	}
	if metadata, ok := o.Object["metadata"].(map[string]any); ok {
		metadata[field] = all
	}
}
