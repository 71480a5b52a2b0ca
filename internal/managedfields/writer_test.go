package managedfields

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func entry(manager string, at int, fields string) metav1.ManagedFieldsEntry {
	e := metav1.ManagedFieldsEntry{Manager: manager, Time: &metav1.Time{Time: time.Unix(int64(at), 0)}, FieldsV1: &metav1.FieldsV1{}}
	e.FieldsV1.SetRawBytes([]byte(fields))
	return e
}

// The most specific claim of somebody else counts; of equally specific ones, the latest.
func TestLastWriter(t *testing.T) {
	entries := []metav1.ManagedFieldsEntry{
		entry("us", 9, `{"f:spec":{"f:replicas":{},"f:paused":{}}}`),
		entry("early", 1, `{"f:spec":{"f:replicas":{}}}`),
		entry("late", 2, `{"f:spec":{"f:replicas":{},"f:args":{}}}`),
		entry("exact", 1, `{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{"f:image":{}}}},"f:metadata":{"f:labels":{"f:a.b/c":{}}}}`),
		entry("whole", 3, `{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{}}}}`),
		entry("others", 3, `{"f:spec":{"f:volumes":{"k:{\"name\":\"a\"}":{"f:secret":{}},"k:{\"name\":\"b\"}":{"f:secret":{}}}}}`),
		{Manager: "empty"},
		entry("broken", 9, `[`),
	}
	for path, want := range map[string]string{
		"spec.replicas":                "late",
		"spec.paused":                  "",
		"spec.args[0]":                 "late",
		"spec.containers[web].image":   "exact",
		"spec.containers[web].args":    "whole",
		"spec.containers[other].image": "",
		"spec.volumes[b].secret":       "others",
		"spec.volumes[name].secret":    "", // not the item of which a key is called so
		"metadata.labels[a.b/c]":       "exact",
		"status.replicas":              "",
	} {
		if got := LastWriter(entries, path, "us").Manager; got != want {
			t.Errorf("%s was written by %q, want %q", path, got, want)
		}
	}
	if !Owns(entries[0], "spec.paused") || Owns(entries[0], "spec.args") {
		t.Error("Owns does not tell what an entry holds")
	}
}
