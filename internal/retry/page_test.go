package retry

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestNoPages: only what is a web page fails, and all else is read as it came.
func TestNoPages(t *testing.T) {
	for name, c := range map[string]struct {
		method, kind, body string
		code               int
		page               bool
	}{
		"page":                  {"GET", "text/html; charset=utf-8", "\n <!DOCTYPE html><html>", 200, true},
		"page with a mark":      {"GET", "text/html", "\ufeff<html>", 200, true},
		"HEAD of a page":        {"HEAD", "text/html", "", 200, true},
		"page of an error":      {"GET", "text/html", "<html>", 502, false},
		"index called a page":   {"GET", "text/html", "apiVersion: v1\nentries: {}\n", 200, false},
		"nothing":               {"GET", "text/html", "", 200, false},
		"answer":                {"GET", "application/json", "{}", 200, false},
		"answer without a type": {"GET", "", "<", 200, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = []string{c.kind}
				w.WriteHeader(c.code)
				_, _ = io.WriteString(w, c.body)
			}))
			defer s.Close()
			r, err := http.NewRequestWithContext(t.Context(), c.method, s.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			client := http.Client{Transport: NoPages(http.DefaultTransport)}
			answer, err := client.Do(r)
			var page *PageError
			if errors.As(err, &page) != c.page || (err != nil) != c.page {
				t.Fatalf("error %v", err)
			}
			if err != nil {
				return
			}
			defer answer.Body.Close()
			if got, err := io.ReadAll(answer.Body); err != nil || string(got) != c.body {
				t.Errorf("read %q, error %v", got, err)
			}
		})
	}
}
