package command

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/escape"
)

func (p *program) unlockCommand() *cli.Command {
	var yes bool
	return &cli.Command{
		Name: "unlock", Usage: "show who holds a release's lock, and free it", ArgsUsage: "NAME",
		Description: describe("Shows who holds the lock of a release. With --yes, or after confirmation, the lock is\nfreed; its holder notices that at its next renewal, within seconds, and writes nothing more.", "kubectl release unlock web"),
		Flags:       []cli.Flag{&cli.BoolFlag{Name: "yes", Destination: &yes, Aliases: []string{"y"}, Usage: "do not ask for confirmation"}},
		Action: p.onRelease(func(ctx context.Context, s *session, name string) error {
			holder, held, err := s.engine.Holder(ctx, s.key(name))
			if err != nil {
				return unwritten(err)
			}
			if !held {
				return p.tellPending(ctx, s, name, holder.Unread)
			}
			fmt.Fprintf(p.streams.Out, "The lock of %s is held by %s; a live holder renews it every few seconds.\n", name, escape.Line(holder.Text()))
			if err := p.confirm(ctx, yes, "Free it?", "the lock was not freed"); err != nil {
				return err
			}
			if err := s.engine.FreeLock(ctx, s.key(name), holder.Identity); err != nil {
				return err
			}
			fmt.Fprintln(p.streams.Out, "It is free.")
			if err := p.tellPending(ctx, s, name, false); !isNoRelease(err) {
				return err
			}
			return nil // the lock's holder has recorded nothing
		}),
	}
}

// tellPending prints what may block a release whose lock is free: a pending status, and how to go
// on from it.
func (p *program) tellPending(ctx context.Context, s *session, name string, unread bool) error {
	r, err := s.engine.Newest(ctx, s.key(name))
	if err != nil {
		return err
	}
	if !r.Info.Status.Pending() {
		fmt.Fprintf(p.streams.Out, "Nobody holds the lock of %s.\n", name)
		return nil
	}
	next, err := p.next(ctx, s, r, unread)
	fmt.Fprintf(p.streams.Out, "Revision %d of %s has been %s since %s (%s).\n%s",
		r.Version, name, r.Info.Status, localTime(r.Info.LastDeployed), r.Info.Description, next)
	return err
}
