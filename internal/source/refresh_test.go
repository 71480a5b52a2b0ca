package source

import (
	"net/http"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
)

// The credentials of flags are for the origin that is named first: not for its other ports, and not for
// the same host without TLS. A registry is one of https, however it is connected to.
func TestCredentialsOfFlagsHaveAnOrigin(t *testing.T) {
	for first, others := range map[string]map[string]bool{
		"https://h/charts": {
			"https://h": true, "https://h:443/x.tgz": true, "https://H": true, "oci://h/charts/x:1.0.0": true,
			"http://h": false, "http://h:443": false, "https://h:8443": false, "https://h.example": false, "oci://h:8443/x": false,
		},
		"http://h":                {"http://h:80/x.tgz": true, "http://h/charts": true, "https://h": false, "http://h:8080": false, "oci://h/x": false},
		"oci://h:5000/charts/x:1": {"oci://h:5000/other": true, "https://h:5000/charts": true, "http://h:5000": false, "oci://h/x": false},
	} {
		for at, want := range others {
			s := &Sources{Access: Access{Username: "u", Password: "p", Server: resolve.Server{CertFile: "c", KeyFile: "k"}}}
			s.accessTo(first)
			a := s.accessTo(at)
			if given := a.Username == "u" && a.Password == "p" && a.CertFile == "c" && a.KeyFile == "k"; given != want {
				t.Errorf("given for %s, they go to %s: %v", first, at, given)
			}
			if none := a == (Access{}); none == want {
				t.Errorf("given for %s, %s gets %+v", first, at, a)
			}
		}
	}
}

// A chart's own URL is bound to them like a repository.
func TestCredentialsOfFlagsForURLs(t *testing.T) {
	first, second, s := sourcetest.Serve(t, sourcetest.Options{User: "u", Password: "p"}), sourcetest.Serve(t, sourcetest.Options{}), ours(t)
	s.Access = Access{Username: "u", Password: "p"}
	for _, server := range []*sourcetest.Repository{first, second} {
		server.Put("/alpha-1.0.0.tgz", sourcetest.Chart(t, "alpha", "1.0.0", server.URL))
		if _, err := fetch(t, s, resolve.Reference{Kind: resolve.Remote, URL: server.URL + "/alpha-1.0.0.tgz"}); err != nil {
			t.Error(err)
		}
	}
	for _, q := range second.Requests() {
		if q.Method != http.MethodGet || q.Header.Get("Authorization") != "" {
			t.Errorf("the second server is sent %+v", q)
		}
	}
}
