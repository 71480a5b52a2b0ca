package manifest

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// Label is one of an object's labels, "" when it does not have it: as GetLabels has it,
// which copies all of them.
func Label(o *unstructured.Unstructured, key string) string { return metadataText(o, "labels", key) }

// Annotation is the same for annotations.
func Annotation(o *unstructured.Unstructured, key string) string {
	return metadataText(o, "annotations", key)
}

// AddLabels gives an object labels on top of its own, which are dropped where one of them is no
// text, as SetLabels and GetLabels do it. The object's metadata is its own, its labels may be shared.
func AddLabels(o *unstructured.Unstructured, more map[string]string) {
	addMetadata(o, "labels", more)
}

// AddAnnotations is the same for annotations.
func AddAnnotations(o *unstructured.Unstructured, more map[string]string) {
	addMetadata(o, "annotations", more)
}

func metadataText(o *unstructured.Unstructured, field, key string) string {
	texts := metadataTexts(o, field)
	text, _ := texts[key].(string)
	return text
}

// metadataTexts are a field's values when all of them are texts or null, which means "".
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
