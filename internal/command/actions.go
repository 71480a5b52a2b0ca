package command

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/argv"
)

// run is what a command does once its flags are parsed into the structs that declare them. No
// *cli.Context is passed beyond the action; a test checks that.
type run func(ctx context.Context, args []string) error

// takes returns the action of a command that accepts from least to most arguments.
func takes(least, most int, run run) cli.ActionFunc {
	return takesBetween(func() (int, int) { return least, most }, run)
}

// takesBetween is takes for commands whose flags decide how many arguments they accept.
func takesBetween(bounds func() (least, most int), run run) cli.ActionFunc {
	return func(c *cli.Context) error {
		args := c.Args().Slice()
		line := strings.TrimSpace(c.Command.HelpName + " " + c.Command.ArgsUsage)
		switch least, most := bounds(); {
		case len(args) < least:
			return usage("an argument is missing: %s", line)
		case len(args) > most:
			return usage("unexpected argument %q: %s", args[most], line)
		}
		return run(c.Context, args)
	}
}

// only is the action of a command that consists of subcommands and does nothing itself.
func only(c *cli.Context) error {
	if c.Args().Present() {
		return lineRules.UnknownCommand(c.Command.Subcommands, c.Args().First(), c.Command.HelpName)
	}
	return cli.ShowSubcommandHelp(c)
}

// optional is the value of a flag for which it matters whether it was given, even with an
// empty value.
type optional[T any] struct {
	value T
	given bool
}

// note is the Action of such a flag; the parser calls it if the flag was given.
func (o *optional[T]) note(*cli.Context, T) error {
	o.given = true
	return nil
}

// notEmpty makes an empty value of a flag an error. It is for flags without which less is checked or
// more is done: approvals, signatures, encryption, dry runs. Their values come from variables, and one
// that is not set must not mean that the flag was not given.
func notEmpty(flag *cli.StringFlag) *cli.StringFlag {
	flag.Action = func(_ *cli.Context, value string) error {
		if value == "" {
			return usage("--%s is empty: give it a value, or leave it out", flag.Name)
		}
		return nil
	}
	return flag
}

// joined concatenates lists of flags. If several flags share a name and a destination, it
// keeps the first.
func joined(lists ...[]cli.Flag) []cli.Flag {
	all := slices.Concat(lists...)
	named := make(map[string]cli.Flag, len(all))
	out := all[:0]
	for _, f := range all {
		name := argv.Names(f)[0]
		if first, taken := named[name]; taken && destination(first) == destination(f) {
			continue
		}
		named[name] = f
		out = append(out, f)
	}
	return out
}

func destination(f cli.Flag) any {
	return reflect.ValueOf(f).Elem().FieldByName("Destination").Interface()
}

// acting returns the flags that have an action. For each flag of a command, urfave/cli looks through all of
// them to find out whether to run its action, with a regular expression for each name (v2.27.7, app.go,
// runFlagActions, and context.go, lookupFlag): that took longer than parsing the line.
func acting(flags []cli.Flag) []cli.Flag {
	return slices.DeleteFunc(slices.Clone(flags), func(f cli.Flag) bool {
		return reflect.ValueOf(f).Elem().FieldByName("Action").IsNil()
	})
}

func usage(format string, args ...any) error { return argv.Usage(format, args...) }
