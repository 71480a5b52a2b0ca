package command

import (
	"context"
	"errors"
	"os/signal"

	"github.com/urfave/cli/v2"
)

// readOnly wraps the action of a command that writes nothing to a cluster. It ends
// at once on a signal, also where it renders or reads standard input, which know
// nothing of one, and quietly when nobody reads its output any more. Commands
// without it may be in the middle of something, and end in their own way.
func (p *program) readOnly(action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		signal.Stop(p.brokenPipes)
		done := make(chan error, 1)
		go func() { done <- action(c) }()
		select {
		case err := <-done:
			return err
		case <-c.Done():
			if errors.Is(c.Err(), context.Canceled) {
				return errors.New("stopped by a signal")
			}
			return c.Err()
		}
	}
}

// stoppedError is the error of a run that a signal has ended before anything was written,
// be it within a template or while it waited for a lock.
type stoppedError struct{ cause error }

func (e *stoppedError) Error() string { return "stopped by a signal; nothing was written" }

func (e *stoppedError) Unwrap() error { return e.cause }

// unwritten is the error of a run that has written nothing.
func unwritten(err error) error {
	if errors.Is(err, context.Canceled) {
		return &stoppedError{err}
	}
	return err
}
