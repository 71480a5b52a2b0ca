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
		if got := LastWriter(entries, nil, path, "us").Manager; got != want {
			t.Errorf("%s was written by %q, want %q", path, got, want)
		}
	}
	if !Owns(entries[0], "spec.paused") || Owns(entries[0], "spec.args") {
		t.Error("Owns does not tell what an entry holds")
	}
}

// Ports are shown by name, by number, or by number and protocol; their key is number and protocol.
func TestLastWriterOfPorts(t *testing.T) {
	live := map[string]any{"spec": map[string]any{"ports": []any{
		map[string]any{"name": "http", "port": int64(80), "protocol": "TCP", "targetPort": int64(8080)},
		map[string]any{"name": "dns", "port": int64(53), "protocol": "UDP"},
		map[string]any{"name": "dns-tcp", "port": int64(53)},
	}}}
	entries := []metav1.ManagedFieldsEntry{
		entry("web", 1, `{"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{"f:targetPort":{}}}}}`),
		entry("udp", 1, `{"f:spec":{"f:ports":{"k:{\"port\":53,\"protocol\":\"UDP\"}":{"f:targetPort":{}}}}}`),
		entry("tcp", 1, `{"f:spec":{"f:ports":{"k:{\"port\":53,\"protocol\":\"TCP\"}":{"f:targetPort":{}}}}}`),
		entry("both", 0, `{"f:spec":{"f:ports":{"k:{\"port\":53,\"protocol\":\"TCP\"}":{"f:name":{}},"k:{\"port\":53,\"protocol\":\"UDP\"}":{"f:name":{}},"k:{\"port\":80,\"protocol\":\"TCP\"}":{"f:name":{}}}}}`),
		entry("broken", 2, `{"f:spec":{"f:ports":{"k:broken":{}}}}`),
	}
	for path, want := range map[string]string{
		"spec.ports[http].targetPort":    "web",
		"spec.ports[80].targetPort":      "web",
		"spec.ports[80/TCP].targetPort":  "web",
		"spec.ports[dns].targetPort":     "udp",
		"spec.ports[53/UDP].targetPort":  "udp",
		"spec.ports[dns-tcp].targetPort": "tcp",
		"spec.ports[53/TCP].targetPort":  "tcp",
		"spec.ports[53/TCP].name":        "both",
		"spec.ports[8080].targetPort":    "",
		"spec.ports[http].nodePort":      "",
	} {
		if got := LastWriter(entries, live, path).Manager; got != want {
			t.Errorf("%s was written by %q, want %q", path, got, want)
		}
	}
}
