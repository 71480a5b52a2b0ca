package resolve

import (
	"strings"
	"testing"
)

func TestParseSettings(t *testing.T) {
	s, err := ParseSettings([]byte("mirrors: [{prefix: oci://a/b/, to: oci://c/}]\nplainHTTP: [d:1]\nrealms: {e: [\"https://f\"]}\n"))
	if err != nil || len(s.Mirrors) != 1 || s.PlainHTTP[0] != "d:1" || s.Realms["e"][0] != "https://f" {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := ParseSettings(nil); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"mirror: []":                                  "unknown field",
		"mirrors: [{prefix: a, to: b}]":               "have to be URLs",
		"mirrors: [{prefix: oci://a, to: https://b}]": "are not of one kind",
		"realms: {e: [f]}":                            "is not the URL of a server",
	} {
		if _, err := ParseSettings([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
