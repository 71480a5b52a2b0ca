package releasestore

import (
	"os"
	"time"
)

// SystemClock is ahead of the real time by what the environment variable
// TRUST_CLOCK_AHEAD says, such as -5m. The suite builds a program with this file in
// the place of the real one (go build -overlay).
type SystemClock struct{}

// Now is the current time on this machine.
func (SystemClock) Now() time.Time {
	ahead, err := time.ParseDuration(os.Getenv("TRUST_CLOCK_AHEAD"))
	if err != nil {
		panic(err)
	}
	return time.Now().Add(ahead)
}

// Since is how long ago t was.
func (c SystemClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// After sends the time once d has passed.
func (SystemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }
