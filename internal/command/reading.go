package command

import (
	"context"
	"errors"
	"slices"

	"github.com/urfave/cli/v2"
)

// writers are the commands that may be in the middle of something when a signal
// comes. They end in their own way.
var writers = []string{"apply", "install", "upgrade", "rollback", "uninstall", "test", "unlock"}

// readOnly makes a command that writes nothing to a cluster end at once on a
// signal: rendering and reading standard input know nothing of one.
func readOnly(c *cli.Command, parent string) {
	if c.Action == nil || parent == "" && slices.Contains(writers, c.Name) {
		return
	}
	action := c.Action
	c.Action = func(c *cli.Context) error {
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
