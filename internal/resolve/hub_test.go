package resolve

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHub(t *testing.T) {
	for endpoint, want := range map[string]string{
		"https://hub.helm.sh": "https://hub.helm.sh/api/chartsvc/v1/charts/search?q=a+b%26c",
		"http://h:1/below/":   "http://h:1/below/api/chartsvc/v1/charts/search?q=a+b%26c",
		"oci://h":             "",
		"h":                   "",
	} {
		if got, err := HubSearch(endpoint, "a b&c"); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", endpoint, got, err)
		}
	}
	got, err := ParseHub("https://h/", []byte(`{"data":[{"id":"a/b","artifactHub":{"packageUrl":"https://p"},"attributes":{"description":"d","repo":{"name":"r","url":"https://r"}},"relationships":{"latestChartVersion":{"data":{"version":"1","app_version":"2"}}}},{"id":"a/c"}]}`))
	want := []HubHit{{URL: "https://p", Version: "1", AppVersion: "2", Description: "d", Repository: "r", RepositoryURL: "https://r"}, {URL: "https://h/charts/a/c"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, text := range []string{"", "<html>", `{"data":1}`} {
		if _, err := ParseHub("https://h", []byte(text)); err == nil {
			t.Errorf("%q is an answer", text)
		}
	}
}
