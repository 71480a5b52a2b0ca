package source

import (
	"net/http"
	"testing"
	"time"
)

// A server that is busy is asked again when it says, in seconds or by a date, but within a minute. A
// date without one to reckon it from counts for nothing.
func TestRetryAfter(t *testing.T) {
	for text, want := range map[string][2]time.Duration{
		"":                              {100 * time.Millisecond, time.Second},
		"20":                            {20 * time.Second, 20 * time.Second},
		"0":                             {100 * time.Millisecond, time.Second},
		"-5":                            {100 * time.Millisecond, time.Second},
		"soon":                          {100 * time.Millisecond, time.Second},
		"3600":                          {time.Minute, time.Minute},
		"99999999999999999999":          {100 * time.Millisecond, time.Second},
		"Thu, 01 Jan 2026 00:00:30 GMT": {30 * time.Second, 30 * time.Second},
		"Thu, 01 Jan 2026 01:00:00 GMT": {time.Minute, time.Minute},
		"Wed, 31 Dec 2025 00:00:00 GMT": {100 * time.Millisecond, time.Second},
	} {
		for _, code := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
			r := &http.Response{StatusCode: code, Header: http.Header{"Retry-After": {text}, "Date": {"Thu, 01 Jan 2026 00:00:00 GMT"}}}
			if got, err := patience.Retry(0, r, nil); err != nil || got < want[0] || got > want[1] {
				t.Errorf("%d, %q: %s, %v", code, text, got, err)
			}
		}
	}
	undated := &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"Thu, 01 Jan 2026 00:00:30 GMT"}}}
	if got, err := patience.Retry(0, undated, nil); err != nil || got > time.Second {
		t.Errorf("without Date: %s, %v", got, err)
	}
}
