package command

import (
	"context"
	"errors"
	"os/signal"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/terminal"
)

// tidyTime is how long an action that a signal has ended may take to remove its temporary files, which are at
// most a checkout. Who presses Ctrl-C again, or sends another signal, does not wait for it.
const tidyTime = 2 * time.Second

// readOnly wraps the action of a command that writes nothing to a cluster. A signal ends it
// immediately, even while it renders or reads standard input, which no context interrupts; but one that tidies
// up is given a moment for that. It ends
// quietly if its output no longer has a reader, and fails if that could not be written. Commands without
// this wrapper may be in the middle of a run and end in their own way.
func (p *program) readOnly(action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		signal.Stop(p.brokenPipes)
		p.underway.onlyReads()
		done, ended := make(chan error, 1), make(chan struct{})
		go func() {
			defer close(ended)
			done <- action(c)
		}()
		select {
		case err := <-done:
			var code codeError
			if lost := terminal.Failed(p.raw.Out); lost != nil && (err == nil || errors.As(err, &code)) {
				return lost
			}
			return err
		case <-c.Done():
			if p.temporary.Load() {
				select {
				case <-ended:
				case <-time.After(tidyTime):
				}
			}
			if errors.Is(c.Err(), context.Canceled) {
				return errors.New("stopped by a signal")
			}
			return c.Err()
		}
	}
}

// unlessStopped returns what read returns, or a *stoppedError as soon as a signal ends ctx: no context
// interrupts reading from a terminal.
func unlessStopped[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := read()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, unwritten(ctx.Err())
	}
}

// stoppedError is the error of a run that a signal ended before anything was written, for example
// while it rendered a template or waited for a lock.
type stoppedError struct{ cause error }

func (e *stoppedError) Error() string { return "stopped by a signal; nothing was written" }

func (e *stoppedError) Unwrap() error { return e.cause }

// unwritten returns the error of a run that has written nothing, a *stoppedError if a signal ended
// it.
func unwritten(err error) error {
	if errors.Is(err, context.Canceled) {
		return &stoppedError{err}
	}
	return err
}
