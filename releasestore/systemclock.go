package releasestore

import "time"

// SystemClock is the real time. Tests build the program with another file in place of this one, see
// e2e/trust/testdata/skewedclock.
type SystemClock struct{}

// Now is the current time.
func (SystemClock) Now() time.Time { return time.Now() }

// Since is how long ago t was.
func (SystemClock) Since(t time.Time) time.Duration { return time.Since(t) }

// After sends the time once d has passed.
func (SystemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }
