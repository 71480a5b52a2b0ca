package resolve

import (
	"strings"
	"testing"
)

// Each host is known by one name, and typing errors are refused.
func TestParseHosts(t *testing.T) {
	for text, want := range map[string]string{
		"Registry.internal:443: {plainHTTP: true}":     "registry.internal no TLS",
		"h:5000: {caFile: a, certFile: b, keyFile: c}": "h:5000 CA file a, client certificate b",
		"h: {insecureSkipTLSVerify: true}":             "h certificate not checked",
		"":                                             "",
		"h: {cafile: a}":                               "h CA file a", // as Kubernetes reads YAML
		"h: {authority: a}":                            "unknown field",
		"h: {certFile: a}":                             "must be set together",
		"https://h: {}":                                "is not the name of a host",
		"h/path: {}":                                   "is not the name of a host",
		"h: {plainHTTP: true}\nH:443: {plainHTTP: true}":         "is listed twice",
		"h: {plainHTTP: true}\nh: {insecureSkipTLSVerify: true}": "already set",
	} {
		hosts, err := ParseHosts([]byte(text))
		got := ""
		for name, server := range hosts {
			got += name + " " + server.String()
		}
		if err != nil {
			got = err.Error()
		}
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
