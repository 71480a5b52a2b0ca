package retry

import (
	"fmt"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"
)

// FirstWord is how long a server has to be silent before Silence says so. It does so again each time that the
// silence has become twice as long.
const FirstWord = 10 * time.Second

// Silence says what is being waited for while requests are under way and none of them is answered: until the
// last attempt of a request has timed out, nothing else would. It is safe for concurrent use.
type Silence struct {
	// Server is what the requests are sent to, and Credentials the program that is asked for credentials
	// first, "" if there is none, as people know them.
	Server, Credentials string
	// Say is called with a sentence without a full stop, and not again before it has returned. Requests do not
	// wait for it: what it writes to may stand still, such as a terminal or a pager.
	Say func(text string)

	saying sync.Mutex // while Say is called
	mu     sync.Mutex // of what follows
	// underWay are the requests that have no answer yet, and unsent those of them that are not with the
	// server yet: they wait for credentials.
	underWay, unsent int
	// silent is how long requests have waited since the last answer; those that are under way wait since
	// began.
	silent time.Duration
	began  time.Time
	// next is how long the silence has to be before Say is called, by timer.
	next  time.Duration
	timer *time.Timer
}

// Through returns a transport that sends requests through next.
func (s *Silence) Through(next http.RoundTripper) http.RoundTripper { return heard{s, next} }

// heard is a transport whose requests a Silence knows.
type heard struct {
	silence *Silence
	next    http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (h heard) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := h.silence.begin()
	trace := &httptrace.ClientTrace{GetConn: func(string) { sent() }}
	answer, err := h.next.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
	sent()
	h.silence.end(err == nil)
	return answer, err
}

// WrappedRoundTripper lets client-go look at the transport below (k8s.io/apimachinery, pkg/util/net/http.go,
// RoundTripperWrapper).
func (h heard) WrappedRoundTripper() http.RoundTripper { return h.next }

// begin counts a request, until end is called. The function that it returns is called when the request goes to
// the server.
func (s *Silence) begin() (sent func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsent++
	if s.underWay++; s.underWay == 1 {
		s.began = time.Now()
		s.next = max(s.next, FirstWord)
		s.timer = time.AfterFunc(s.next-s.silent, s.speak)
	}
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.unsent--
	})
}

// end ends a request, with an answer or without.
func (s *Silence) end(answered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.silent += now.Sub(s.began)
	s.began = now
	if answered {
		s.silent, s.next = 0, FirstWord
		s.timer.Reset(s.next)
	}
	if s.underWay--; s.underWay == 0 {
		s.timer.Stop()
	}
}

// speak says what is being waited for, if it is time for that. What can't be said at once is left out.
func (s *Silence) speak() {
	text := s.due()
	if text == "" || !s.saying.TryLock() {
		return
	}
	defer s.saying.Unlock()
	s.Say(text)
}

// due returns what is to be said now, "" if that is nothing, and sets the timer for what is said next.
func (s *Silence) due() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	silent := s.silent + time.Since(s.began)
	if s.underWay == 0 || silent < s.next {
		return ""
	}
	for s.next <= silent {
		s.next *= 2
	}
	s.timer.Reset(s.next - silent)
	who := s.Server
	if s.Credentials != "" && s.unsent == s.underWay {
		who = s.Credentials
	}
	return fmt.Sprintf("waiting for %s: no answer for %s", who, silent.Truncate(time.Second))
}
