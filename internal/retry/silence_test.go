package retry

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// roundTrip is a transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// takes is a transport whose requests reach the server after the first duration, and end after the second.
func takes(unsent, unanswered time.Duration, err error) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		time.Sleep(unsent)
		if trace := httptrace.ContextClientTrace(r.Context()); trace != nil {
			trace.GetConn("")
		}
		time.Sleep(unanswered)
		return &http.Response{}, err
	}
}

// ask sends a request over a transport whose silence s knows.
func ask(s *Silence, over roundTrip) {
	answer, err := s.Through(over).RoundTrip(httptest.NewRequest(http.MethodGet, "https://api", nil))
	if err == nil && answer.Body != nil {
		answer.Body.Close()
	}
}

// TestSilence: what is being waited for is said once it has lasted, then at growing intervals, and no longer once
// anything has been answered. Attempts that fail go on with the silence; the time between requests does not count.
func TestSilence(t *testing.T) {
	broken := errors.New("broken")
	const server = "waiting for the API server: no answer for "
	for name, c := range map[string]struct {
		one  func(send func(roundTrip))
		want []string
	}{
		"answered in time": {func(send func(roundTrip)) {
			for range 5 {
				send(takes(0, 9*time.Second, nil))
			}
		}, nil},
		"silent": {func(send func(roundTrip)) {
			send(takes(0, 60*time.Second, broken))
			send(takes(0, 60*time.Second, broken))
		}, []string{server + "10s", server + "20s", server + "40s", server + "1m20s"}},
		"silent, answered, and silent again": {func(send func(roundTrip)) {
			send(takes(0, 15*time.Second, nil))
			send(takes(0, 15*time.Second, nil))
		}, []string{server + "10s", server + "10s"}},
		"nothing asked": {func(send func(roundTrip)) {
			send(takes(0, 8*time.Second, broken))
			time.Sleep(time.Hour)
			send(takes(0, time.Second, broken))
		}, nil},
		"another request answered": {func(send func(roundTrip)) {
			go send(takes(0, 25*time.Second, nil))
			time.Sleep(8 * time.Second)
			send(takes(0, time.Second, nil))
			time.Sleep(15 * time.Second)
			synctest.Wait()
		}, []string{server + "10s"}},
		"no credentials yet": {func(send func(roundTrip)) {
			send(takes(25*time.Second, 20*time.Second, nil))
		}, []string{"waiting for login: no answer for 10s", "waiting for login: no answer for 20s", server + "40s"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var said []string
				s := &Silence{Server: "the API server", Credentials: "login", Say: func(text string) { said = append(said, text) }}
				c.one(func(over roundTrip) { ask(s, over) })
				time.Sleep(time.Hour)
				synctest.Wait()
				if !slices.Equal(said, c.want) {
					t.Errorf("said %q, want %q", said, c.want)
				}
			})
		})
	}
}

// TestSilenceThatNobodyReads: while what is said can't be written, requests go on, and nothing more is said.
func TestSilenceThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read := make(chan struct{})
		var mu sync.Mutex
		var said []string
		s := &Silence{Server: "the API server", Say: func(text string) {
			mu.Lock()
			said = append(said, text)
			mu.Unlock()
			<-read
		}}
		go ask(s, takes(0, time.Hour, nil))
		time.Sleep(15 * time.Second)
		began := time.Now()
		ask(s, takes(0, time.Second, nil))
		if took := time.Since(began); took != time.Second {
			t.Errorf("a request took %s, want 1s", took)
		}
		time.Sleep(time.Minute)
		close(read)
		time.Sleep(time.Minute)
		mu.Lock()
		got := slices.Clone(said)
		mu.Unlock()
		const server = "waiting for the API server: no answer for "
		if want := []string{server + "10s", server + "1m20s"}; !slices.Equal(got, want) {
			t.Errorf("said %q, want %q", got, want)
		}
		time.Sleep(time.Hour)
	})
}
