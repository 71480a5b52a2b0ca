package command

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/dependency"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/source"
	"github.com/kubectl-release/kubectl-release/internal/terminal"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// Exit codes; they are part of the interface.
const (
	exitDone           = 0
	exitError          = 1
	exitChanges        = 2 // with --detailed-exitcode: objects change
	exitRecordOnly     = 3 // with --detailed-exitcode: only the record changes
	exitStale          = 4 // a plan no longer holds, or is not the approved one
	exitRolledBack     = 5
	exitRollbackFailed = 6
	exitLocked         = 7
	exitUntrusted      = 8 // a chart's digest is not the promised one, or a required signature is missing
	exitOffline        = 9
	exitNotThere       = 10  // a server does not have what was asked for
	exitRefused        = 11  // a server refuses the credentials
	exitUnlocked       = 12  // Chart.lock does not match Chart.yaml
	exitLeft           = 130 // ended by a second Ctrl-C or SIGTERM; 128+SIGINT, as shells report it
)

// codeError ends the program with a code and without a message.
type codeError int

func (e codeError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// exit prints an error with a hint and returns the exit code. What a run has done counts even if it could not be printed.
func (p *program) exit(err error) int {
	if lost := terminal.Failed(p.raw.Out); lost != nil && !errors.Is(err, lost) {
		p.warn("the output is not complete: " + lost.Error())
	}
	if err == nil {
		return exitDone
	}
	var code codeError
	if errors.As(err, &code) {
		return int(code)
	}
	p.tell(err)
	return exitCode(err)
}

// tell prints an error with a hint; each command in the hint is on its own line.
func (p *program) tell(err error) {
	mask := p.errorMask()
	fmt.Fprintf(p.streams.Err, "Error: %s\n", mask.Text(err.Error()))
	if hint := p.hint(err); hint != "" {
		fmt.Fprintf(p.streams.Err, "Hint: %s\n", strings.ReplaceAll(mask.Text(hint), "\n", "\n      "))
	}
}

func exitCode(err error) int {
	var back *engine.RolledBackError
	var coded *codedError
	switch {
	case isA[*leftError](err):
		return exitLeft
	case isA[*unapprovedError](err):
		return exitStale
	case isA[*source.DigestError](err), isA[*source.UnverifiedError](err), isA[*dependency.OtherChartError](err):
		return exitUntrusted
	case isA[*source.OfflineError](err):
		return exitOffline
	case errors.As(err, &coded):
		return coded.code
	case sourceCode(err) != exitError:
		return sourceCode(err)
	case isA[*engine.StaleError](err):
		return exitStale
	case errors.As(err, &back) && back.Rollback != nil:
		return exitRollbackFailed
	case errors.As(err, &back):
		return exitRolledBack
	case isA[*releasestore.LockedError](err):
		return exitLocked
	default:
		return exitError
	}
}

// isA reports whether an error is, or wraps, one of a type.
func isA[E error](err error) bool {
	_, is := errors.AsType[E](err)
	return is
}

// codedError is an error whose exit code differs from that of its type.
type codedError struct {
	error
	code int
}

func (e *codedError) Unwrap() error { return e.error }

// sourceCode returns the exit code of an error that kept a chart or its dependencies from being
// fetched.
func sourceCode(err error) int {
	var status *source.StatusError
	var refused *source.RefusedError
	answer := 0
	switch {
	case isA[*resolve.OutOfSyncError](err):
		return exitUnlocked
	case isA[*source.NotThereError](err):
		return exitNotThere
	case errors.As(err, &status):
		answer = status.Code
	case errors.As(err, &refused):
		answer = refused.Code
	}
	switch answer {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return exitRefused
	case http.StatusNotFound, http.StatusGone:
		return exitNotThere
	}
	return exitError
}
