package resolve

import (
	"strings"
	"testing"
)

func TestChartURL(t *testing.T) {
	for _, tc := range []struct{ base, text, want string }{
		{"https://h/charts", "a-1.tgz", "https://h/charts/a-1.tgz"},
		{"https://h/charts///", "a-1.tgz", "https://h/charts/a-1.tgz"},
		{"https://h/charts?token=x", "sub/a-1.tgz", "https://h/charts/sub/a-1.tgz?token=x"},
		{"https://h/charts", "/a-1.tgz", "https://h/a-1.tgz"},
		{"https://h/charts", "../a-1.tgz", "https://h/a-1.tgz"},
		{"https://h/charts", "//other/a-1.tgz", "https://other/a-1.tgz"},
		{"https://h/charts?token=x", "https://other/a.tgz", "https://other/a.tgz"},
		{"https://h/charts?token=x", "//other/a.tgz", "https://other/a.tgz"},
		{"https://h/charts?token=x", "//other/a.tgz?sig=y", "https://other/a.tgz?sig=y"},
		{"https://h/charts?token=x", "//h:8443/a.tgz", "https://h:8443/a.tgz"},
		{"https://h/charts?token=x", "//h:443/a.tgz", "https://h:443/a.tgz?token=x"},
		{"https://h/a%2Fb", "c.tgz", "https://h/a%2Fb/c.tgz"},
		{"https://h", "", ""},
		{"https://h", "http://[::1", ""},
	} {
		if got, err := ChartURL(tc.base, tc.text); got != tc.want || (err == nil) != (tc.want != "") {
			t.Errorf("%s + %s = %s, %v", tc.base, tc.text, got, err)
		}
	}
}

func TestIndexURL(t *testing.T) {
	for base, want := range map[string]string{
		"https://h": "https://h/index.yaml", "https://h/x/?a=b": "https://h/x/index.yaml?a=b", "s3://bucket/x": "s3://bucket/x/index.yaml",
	} {
		if got, err := IndexURL(base); got != want || err != nil {
			t.Errorf("%s: %s, %v", base, got, err)
		}
	}
}

func TestFileName(t *testing.T) {
	for text, want := range map[string]string{"https://h/a/b-1.tgz?x=/y": "b-1.tgz", "https://h/": "", "https://h/..": "", "https://h/a%2F..%2Fb": "b", "https://h/a%5Cb": "", "%": ""} {
		if got, err := FileName(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}

// Credentials are for a scheme, a host and a port.
func TestSameOrigin(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"https://h/x", "https://H:443/y", true},
		{"http://h:80", "http://h", true},
		{"https://h", "http://h", false},
		{"https://h", "https://h:8443", false},
		{"https://h", "https://sub.h", false},
		{"https://h", "https://h.evil.com", false},
		{"https://h", "https://h@evil.com", false},
		{"https://h", "%", false},
	} {
		if got := SameOrigin(tc.a, tc.b); got != tc.want {
			t.Errorf("%s and %s: %v", tc.a, tc.b, got)
		}
	}
}

func TestPublic(t *testing.T) {
	for text, want := range map[string]string{
		"a/web":                            "a/web",
		"oci://h:5000/a/web:1@sha256:00":   "oci://h:5000/a/web:1@sha256:00",
		"https://u:p@h/web.tgz":            "https://h/web.tgz",
		"https://token@h/web%20x.tgz#part": "https://h/web%20x.tgz",
		"https://h/web.tgz?sig=secret":     "https://h/web.tgz?withheld",
		"https://u:p@h/%zz":                "a URL that can't be read",
	} {
		got := Public(text)
		if got != want {
			t.Errorf("%s: %s", text, got)
		}
		if Withheld(got) != strings.Contains(text, "?") {
			t.Errorf("%s: withheld: %v", text, Withheld(got))
		}
	}
}

func TestMirrored(t *testing.T) {
	mirrors := []Mirror{{"https://h/charts", "https://m/a"}, {"https://h/charts/x/", "https://m/x/"}, {"oci://ghcr.io", "oci://127.0.0.1:5000/ghcr"}}
	for text, want := range map[string]string{
		"https://h/charts": "https://m/a", "https://h/charts/": "https://m/a/", "https://h/charts/x/y": "https://m/x/y", "https://h/chartsmuseum": "https://h/chartsmuseum",
		"oci://ghcr.io/a/b:1": "oci://127.0.0.1:5000/ghcr/a/b:1", "oci://ghcr.io.evil/a": "oci://ghcr.io.evil/a",
	} {
		if got := Mirrored(mirrors, text); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}
