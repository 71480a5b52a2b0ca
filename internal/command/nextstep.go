package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/argv"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/plan"
)

// unfinishedError is the error of a run that ended before its plan was done, with what the run
// achieved.
type unfinishedError struct {
	cause   error
	made    *plan.Plan
	outcome apply.Outcome
}

func (e *unfinishedError) Error() string {
	o := e.outcome
	var done string
	switch {
	case o.Made > 0 && o.Made == o.Planned:
		done = "all changes of the plan were made: " + strconv.Itoa(o.Made)
	case o.Made > 0 || len(o.Begun) > 0:
		done = fmt.Sprintf("part of the plan was applied: %d of %d changes were made", o.Made, o.Planned)
	case o.Planned > 0:
		done = "no object of the release was changed"
	default:
		return e.cause.Error()
	}
	for _, part := range o.Begun {
		done += "; " + part
	}
	if o.Recorded && o.Revision != nil {
		done += fmt.Sprintf("; revision %d is recorded as %s", o.Revision.Version, o.Revision.Info.Status)
	}
	return e.cause.Error() + "\n" + done
}

func (e *unfinishedError) Unwrap() error { return e.cause }

// explained returns the error of a run with what the run has written, unless the error or its exit code says
// so anyway.
func (how ending) explained() error {
	var back *engine.RolledBackError
	switch {
	case how.err == nil, errors.As(how.err, &back):
		return how.err
	case how.outcome.Written, how.outcome.Recorded:
		return &unfinishedError{how.err, how.made, how.outcome}
	case how.outcome.Revision != nil && apply.Passes(how.err): // the answer to the first write may have been lost, whatever ended the run
		return fmt.Errorf("%w\nas far as is known, nothing was written", how.err)
	case errors.Is(how.err, context.Canceled), how.made.Blocked(), exitCode(how.err) != exitError:
		return unwritten(how.err)
	}
	return fmt.Errorf("%w\nnothing was written", how.err)
}

// goOn returns the commands that continue a run that stopped halfway, and those that undo it.
func (p *program) goOn(e *unfinishedError) string {
	name := e.made.Release.Name
	next := p.again(e.made)
	if next == "" {
		return ""
	}
	next = "go on: " + next
	switch {
	case !e.outcome.Recorded: // there is nothing to remove or to go back from
	case e.made.Operation == plan.Install, e.made.Operation == plan.Upgrade && e.outcome.Before == 0:
		next += "\nremove it: " + p.command("uninstall", name)
	case e.made.Operation == plan.Upgrade:
		next += "\ngo back: " + p.command("rollback", name, strconv.Itoa(e.outcome.Before))
	case e.made.Operation == plan.Rollback, e.made.Operation == plan.Uninstall, e.made.Operation == plan.Test:
	}
	return next
}

// again returns the command that continues an interrupted run: the command that was typed with its
// flags, except that an install continues as an upgrade, because the release exists by now. It is
// "" for tests and sets.
func (p *program) again(made *plan.Plan) string {
	name := made.Release.Name
	switch {
	case slices.Contains(p.commandLine.Path, "many"):
		return "" // the set has to be planned again
	case p.commandLine.Path[0] == "apply" && len(p.commandLine.Arguments) == 1:
		return p.command(p.retyped("apply", "--replan", p.commandLine.Arguments[0])...)
	case p.commandLine.Path[0] == "apply":
		return p.command(p.retyped("apply", p.commandLine.Arguments...)...)
	}
	switch made.Operation {
	case plan.Install, plan.Upgrade:
		chart := p.commandLine.Arguments[len(p.commandLine.Arguments)-1]
		if p.commandLine.Path[0] == "install" {
			return p.command(p.retyped("upgrade", "--install", name, chart)...)
		}
		return p.command(p.retyped("upgrade", name, chart)...)
	case plan.Rollback:
		return p.command(p.retyped("rollback", name, strconv.Itoa(made.RollbackTo))...)
	case plan.Uninstall:
		if p.commandLine.Path[0] == "uninstall" {
			return p.command(p.retyped("uninstall", p.commandLine.Arguments...)...)
		}
		return p.command(p.retyped("uninstall", name)...)
	case plan.Test, plan.CorrectDrift, plan.CorrectRecords:
	}
	return ""
}

// retyped returns a command with those of the typed flags that the command has as well, without
// connection flags and with a placeholder for a password. A release with the name of a subcommand
// goes after "--".
func (p *program) retyped(name string, arguments ...string) []string {
	return p.retypedWith(p.commandLine.Flags, name, arguments...)
}

// retypedWith is retyped with these of the typed flags.
func (p *program) retypedWith(flags []argv.Flag, name string, arguments ...string) []string {
	known := argv.Index(p.flags[name])
	words := append(strings.Fields(name), arguments...)
	namesake := name == p.commandLine.Path[0] && len(arguments) > 0 && argv.Find(p.commandLine.Commands, arguments[0]) != nil
	if namesake {
		words = words[:1]
	}
	for _, given := range flags {
		flag := known[given.Name]
		if flag == nil || ofConnection(flag) || argv.IsSwitch(flag) && slices.Contains(words, "--"+flag.Names()[0]) {
			continue
		}
		name := flag.Names()[0]
		meant, optional := lineRules.OptionalValue[name]
		switch {
		case name == "password":
			words = append(words, "--password", "PASSWORD")
		case !given.HasValue, optional && given.Value == meant:
			words = append(words, "--"+name)
		case optional, argv.IsSwitch(flag):
			words = append(words, "--"+name+"="+given.Value)
		default:
			words = append(words, "--"+name, given.Value)
		}
	}
	if namesake {
		words = append(append(words, "--"), arguments...)
	}
	return words
}

func ofConnection(flag cli.Flag) bool {
	f, ok := flag.(cli.CategorizableFlag)
	return ok && f.GetCategory() == connectionCategory
}
