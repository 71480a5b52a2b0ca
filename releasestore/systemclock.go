package releasestore

import "time"

// SystemClock is the real clock. Tests build the program with another file instead of this one, see
// e2e/trust/testdata/skewedclock.
type SystemClock struct{}

// Now returns the current time.
func (SystemClock) Now() time.Time { return time.Now() }

// Since returns how long ago t was.
func (SystemClock) Since(t time.Time) time.Duration { return time.Since(t) }

// After sends the time once d has passed.
func (SystemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }
