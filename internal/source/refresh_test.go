package source

import (
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

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

// An index is requested once per run, however many charts of its repository are wanted at the same time;
// if that fails, it is requested again.
func TestOneRequestForAnIndex(t *testing.T) {
	server := sourcetest.Serve(t, sourcetest.Options{Delay: 20 * time.Millisecond, Fault: func(w http.ResponseWriter, r *http.Request, n int) bool {
		if n > 0 || r.URL.Path != "/index.yaml" {
			return false
		}
		w.WriteHeader(http.StatusForbidden)
		return true
	}})
	server.Publish(t, map[string][]string{"alpha": {"1.0.0"}})
	s, ref := ours(t), resolve.Reference{Kind: resolve.Unconfigured, URL: server.URL, Name: "alpha"}
	_, err := s.Find(t.Context(), ref)
	if status, is := errors.AsType[*StatusError](err); !is || status.Code != http.StatusForbidden {
		t.Errorf("%v", err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := s.Find(t.Context(), ref); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if asked := server.Asked(); !slices.Equal(asked, []string{"GET /index.yaml Forbidden", "GET /index.yaml OK"}) {
		t.Errorf("%q", asked)
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
