package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// Exit codes, part of the interface.
const (
	exitDone           = 0
	exitError          = 1
	exitChanges        = 2 // with --detailed-exitcode: there are changes
	exitRecordOnly     = 3 // with it: no object changes, only the record would
	exitStale          = 4
	exitRolledBack     = 5
	exitRollbackFailed = 6
	exitLocked         = 7
)

// codeError ends the program with a code and without a message.
type codeError int

func (e codeError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// exit prints an error with what to do about it and picks the exit code.
func (p *program) exit(err error) int {
	if err == nil {
		return exitDone
	}
	var code codeError
	if errors.As(err, &code) {
		return int(code)
	}
	fmt.Fprintf(p.streams.Err, "Error: %s\n", printable(p.mask.Load().Text(err.Error())))
	if hint := p.hint(err); hint != "" {
		fmt.Fprintf(p.streams.Err, "Hint: %s\n", hint)
	}
	return exitCode(err)
}

func exitCode(err error) int {
	var stale *engine.StaleError
	var back *engine.RolledBackError
	var locked *releasestore.LockedError
	switch {
	case errors.As(err, &stale):
		return exitStale
	case errors.As(err, &back) && back.Rollback != nil:
		return exitRollbackFailed
	case errors.As(err, &back):
		return exitRolledBack
	case errors.As(err, &locked):
		return exitLocked
	default:
		return exitError
	}
}

// hint is the next command to type, "" when there is nothing to say.
func (p *program) hint(err error) string {
	var usage *usageError
	var stale *engine.StaleError
	var noRelease *engine.NoReleaseError
	var locked *releasestore.LockedError
	var lost *releasestore.LostError
	var compared *plan.ComparedError
	var back *engine.RolledBackError
	switch {
	case errors.As(err, &back):
		return p.hintAfter(back)
	case errors.As(err, &compared):
		return "make a plan with the cluster, without --against, and apply that"
	case errors.As(err, &usage):
		return ""
	case errors.As(err, &stale):
		return "nothing was written; make a new plan and have it reviewed"
	case errors.As(err, &noRelease):
		return p.name + " list --all-namespaces shows the releases that there are"
	case errors.As(err, &locked):
		return fmt.Sprintf("wait with --lock-timeout, or look with %s status %s", p.name, locked.Key.Name)
	case errors.As(err, &lost):
		return fmt.Sprintf("somebody else may be at work on it: look with %s status %s", p.name, lost.Key.Name)
	case errors.Is(err, apply.ErrBlocked):
		return "nothing was written"
	case errors.Is(err, context.Canceled):
		return ""
	case apierrors.IsUnauthorized(err):
		return "log in again, or choose another context with --context"
	case strings.Contains(err.Error(), "connection refused"), strings.Contains(err.Error(), "no such host"), strings.Contains(err.Error(), "i/o timeout"):
		return "check the cluster and the context: kubectl cluster-info"
	default:
		return ""
	}
}

// hintAfter is what to do about a run that was rolled back, or was to be.
func (p *program) hintAfter(back *engine.RolledBackError) string {
	r := back.Back.Revision
	switch {
	case r == nil:
		return ""
	case back.Rollback == nil && back.To == 0:
		return "nothing of it is left; correct what failed and install it again"
	case back.Rollback == nil:
		return fmt.Sprintf("revision %d is what failed: %s get values %s --revision %d", r.Version-1, p.name, r.Name, r.Version-1)
	case back.To == 0:
		return fmt.Sprintf("%s plan uninstall %s shows what is left to undo", p.name, r.Name)
	default:
		return fmt.Sprintf("%s plan rollback %s %d shows what is left to undo; %s rollback %s %d does it", p.name, r.Name, back.To, p.name, r.Name, back.To)
	}
}

// printable escapes what would steer a terminal; newlines and tabs stay.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || (r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f)) {
			return r
		}
		return '\uFFFD'
	}, text)
}
