package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// inWords returns an error about a value of the wrong type without the names of Go's types:
// "metadata: text where an object is expected". Other errors are returned as they are.
func inWords(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	found, _, _ := strings.Cut(wrong.Value, " ") // "number 3"
	if found == "string" {
		found = "text"
	}
	expected := "an object"
	if wrong.Type.Kind() == reflect.String {
		expected = "text"
	}
	text := fmt.Sprintf("%s where %s is expected", withArticle(found), expected)
	if wrong.Field != "" {
		text = wrong.Field + ": " + text
	}
	return errors.New(text)
}

// withArticle returns "a number" and "an object", but "text".
func withArticle(what string) string {
	switch what {
	case "text":
		return what
	case "bool":
		return "a boolean"
	case "array":
		return "a list"
	case "object":
		return "an object"
	}
	return "a " + what
}

// notText returns an error for a field that has a value other than text, nil for one without a value.
func notText(doc *unstructured.Unstructured, path ...string) error {
	name := strings.Join(path, ".")
	v, _, err := unstructured.NestedFieldNoCopy(doc.Object, path...)
	if err != nil {
		return fmt.Errorf("%s is not an object", path[0])
	}
	switch v.(type) {
	case nil, string:
		return nil
	case int64, float64:
		return fmt.Errorf("%s is a number: quote it", name)
	case bool:
		return fmt.Errorf("%s is a boolean: quote it", name)
	case []any:
		return fmt.Errorf("%s is a list where text is expected", name)
	}
	return fmt.Errorf("%s is an object where text is expected", name)
}
