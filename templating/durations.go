package templating

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// durationFunctions are Helm 4.3.1's (pkg/engine/funcs.go). All but mustToDuration return zero for
// a value that is not a duration.
func durationFunctions() map[string]any {
	in := func(convert func(time.Duration) float64) func(any) float64 {
		return func(v any) float64 {
			d, err := toDuration(v)
			if err != nil {
				return 0
			}
			return convert(d)
		}
	}
	whole := func(convert func(time.Duration) int64) func(any) int64 {
		return func(v any) int64 {
			d, err := toDuration(v)
			if err != nil {
				return 0
			}
			return convert(d)
		}
	}
	return map[string]any{
		"mustToDuration":       toDuration,
		"durationNanoseconds":  whole(time.Duration.Nanoseconds),
		"durationMicroseconds": whole(time.Duration.Microseconds),
		"durationMilliseconds": whole(time.Duration.Milliseconds),
		"durationSeconds":      in(time.Duration.Seconds),
		"durationMinutes":      in(time.Duration.Minutes),
		"durationHours":        in(time.Duration.Hours),
		"durationDays":         in(func(d time.Duration) float64 { return d.Hours() / 24 }),
		"durationWeeks":        in(func(d time.Duration) float64 { return d.Hours() / 24 / 7 }),
		"durationRoundTo":      func(v, m any) time.Duration { return multiple(v, m, time.Duration.Round) },
		"durationTruncateTo":   func(v, m any) time.Duration { return multiple(v, m, time.Duration.Truncate) },
	}
}

// multiple converts v to a multiple of m; an invalid v gives zero, an invalid m gives v.
func multiple(v, m any, to func(time.Duration, time.Duration) time.Duration) time.Duration {
	d, err := toDuration(v)
	if err != nil {
		return 0
	}
	unit, err := toDuration(m)
	if err != nil {
		return d
	}
	return to(d, unit)
}

// toDuration reads a duration: "1h30m", or a number of seconds, as a number or text.
func toDuration(v any) (time.Duration, error) {
	switch v := v.(type) {
	case nil:
		return 0, errors.New("nil is not a duration")
	case time.Duration:
		return v, nil
	case string:
		return textDuration(v)
	}
	switch rv := reflect.ValueOf(v); {
	case rv.CanInt():
		return wholeSeconds(rv.Int())
	case rv.CanUint():
		if rv.Uint() > math.MaxInt64 {
			return 0, fmt.Errorf("%v seconds are too many for a duration", v)
		}
		return wholeSeconds(int64(rv.Uint()))
	case rv.CanFloat():
		return seconds(rv.Float())
	}
	return 0, fmt.Errorf("a value of type %T is not a duration", v)
}

func textDuration(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	if d, err := time.ParseDuration(text); err == nil {
		return d, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration", text)
	}
	return seconds(f)
}

func wholeSeconds(n int64) (time.Duration, error) {
	const most = math.MaxInt64 / int64(time.Second)
	if n > most || n < -most {
		return 0, fmt.Errorf("%d seconds are too many for a duration", n)
	}
	return time.Duration(n) * time.Second, nil
}

func seconds(f float64) (time.Duration, error) {
	ns := f * float64(time.Second)
	if math.IsNaN(ns) || math.Abs(ns) > math.MaxInt64 {
		return 0, fmt.Errorf("%v seconds are too many for a duration", f)
	}
	return time.Duration(ns), nil
}
