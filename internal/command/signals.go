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
