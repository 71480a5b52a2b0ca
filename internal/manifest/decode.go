package manifest

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// unmarshalObject decodes JSON with whole numbers as int64, as the API
// machinery does, without insisting on a kind: FromDoc says what is missing.
func unmarshalObject(raw []byte, into *unstructured.Unstructured) error {
	var m map[string]any
	if err := utiljson.Unmarshal(raw, &m); err != nil {
		return err
	}
	if m == nil {
		return errors.New("empty document")
	}
	into.Object = m
	return nil
}
