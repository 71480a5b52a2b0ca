package command

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/argv"
	"github.com/kubectl-release/kubectl-release/internal/dependency"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/source"
	"github.com/kubectl-release/kubectl-release/plan"
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

// exit prints an error with a hint and returns the exit code.
func (p *program) exit(err error) int {
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
	var stale *engine.StaleError
	var back *engine.RolledBackError
	var locked *releasestore.LockedError
	var digest *source.DigestError
	var unverified *source.UnverifiedError
	var other *dependency.OtherChartError
	var offline *source.OfflineError
	var left *leftError
	var unapproved *unapprovedError
	var coded *codedError
	switch {
	case errors.As(err, &left):
		return exitLeft
	case errors.As(err, &unapproved):
		return exitStale
	case errors.As(err, &digest), errors.As(err, &unverified), errors.As(err, &other):
		return exitUntrusted
	case errors.As(err, &offline):
		return exitOffline
	case errors.As(err, &coded):
		return coded.code
	case sourceCode(err) != exitError:
		return sourceCode(err)
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

// codedError is an error whose exit code differs from that of its type.
type codedError struct {
	error
	code int
}

func (e *codedError) Unwrap() error { return e.error }

// sourceCode returns the exit code of an error that kept a chart or its dependencies from being
// fetched.
func sourceCode(err error) int {
	var unsynced *resolve.OutOfSyncError
	var status *source.StatusError
	var refused *source.RefusedError
	var notThere *source.NotThereError
	answer := 0
	switch {
	case errors.As(err, &unsynced):
		return exitUnlocked
	case errors.As(err, &notThere):
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

// hint returns what to do about an error, usually the next command to type, or "".
func (p *program) hint(err error) string {
	var usage *argv.UsageError
	var outside *inputfile.OutsideError
	var stale *engine.StaleError
	var moved *movedError
	var noRelease *engine.NoReleaseError
	var noRevision *engine.NoRevisionError
	var exists *engine.ExistsError
	var locked *releasestore.LockedError
	var lost *releasestore.LostError
	var compared *plan.ComparedError
	var back *engine.RolledBackError
	var unfinished *unfinishedError
	var left *leftError
	var unapproved *unapprovedError
	var invalid *engine.InvalidYAMLError
	var elsewhere *forgeError
	var database *releasestore.UnreachedDatabaseError
	if text := p.hintSource(err); text != "" {
		return text
	}
	switch {
	case errors.As(err, &left):
		return left.next
	case errors.As(err, &back):
		return p.hintAfter(back)
	case errors.As(err, &compared):
		return "make a plan with the cluster, without --against, and apply that"
	case errors.As(err, &usage), errors.As(err, &elsewhere), errors.As(err, &database): // the hints below are about clusters
		return ""
	case errors.As(err, &invalid) && p.commandLine.Path[0] == "template" && !p.connection.debug:
		return "--debug prints what the templates rendered"
	case errors.As(err, &outside):
		return "if the link is your own, --" + outsideLinks + " follows it"
	case errors.As(err, &moved):
		pinned := p.retyped(p.commandLine.Path[0], append([]string{"--pinned"}, p.commandLine.Arguments...)...)
		return "nothing was written; make a new plan, or apply what was planned: " + p.command(pinned...)
	case errors.As(err, &unapproved):
		return "nothing was written; have it reviewed again"
	case errors.As(err, &stale):
		return p.hintStale()
	case errors.As(err, &exists) && exists.Status == release.StatusUninstalled:
		return "add --replace to use the name again"
	case errors.As(err, &exists):
		return "upgrade it, or choose another name"
	case errors.As(err, &noRelease) && noRelease.Operation == plan.Upgrade:
		return "install it, or add --install"
	case errors.As(err, &noRelease):
		return p.command("list", "--all-namespaces") + " lists the existing releases"
	case errors.As(err, &noRevision):
		return p.command("history", noRevision.Key.Name) + " lists the existing ones"
	case errors.As(err, &locked):
		return p.wait() + "\nlook: " + p.command("status", locked.Key.Name)
	case errors.As(err, &lost):
		return "another run may be working on it: check with " + p.command("status", lost.Key.Name)
	case errors.As(err, &unfinished) && p.goOn(unfinished) != "":
		return p.goOn(unfinished)
	case errors.Is(err, apply.ErrBlocked):
		return "nothing was written"
	case errors.Is(err, context.Canceled):
		return ""
	case apierrors.IsForbidden(err) && p.commandLine.Path[0] == "list":
		return "name a namespace that you may read: " + p.invocation.In("NAMESPACE").Command("list")
	case apierrors.IsForbidden(err) && plan.RoleFor(err.Error()) != "":
		return plan.RoleFor(err.Error()) + ", or use another identity (--as, --context)"
	case errors.Is(err, errNoCluster) && p.hasFlag("against"):
		return "--offline compares two charts without one"
	case clientcmd.IsContextNotFound(err):
		return "kubectl config get-contexts lists the existing ones"
	case untrusted(err):
		return "the API server's certificate is not trusted: is it the right cluster? If so, pass its CA: --certificate-authority FILE"
	case apierrors.IsUnauthorized(err):
		return "log in again, or choose another context with --context"
	case unreached(err):
		return "check the cluster and the context: kubectl cluster-info"
	default:
		return ""
	}
}

// wait says how to go on once another run has ended.
func (p *program) wait() string {
	if p.partly {
		return "wait for it, then plan the set again: other releases of it are no longer as its plans found them"
	}
	return "wait for it: " + p.queue()
}

// queue returns the command that was typed, with a --lock-timeout that is long enough for most runs.
func (p *program) queue() string {
	path, called := p.commandLine.Path, p.invocation
	if slices.Contains(path, "many") {
		called = called.WithoutNamespace() // the plans of a set say theirs
	}
	flags := slices.DeleteFunc(slices.Clone(p.commandLine.Flags), func(f argv.Flag) bool { return f.Name == "lock-timeout" })
	words := p.retypedWith(flags, strings.Join(path, " "), p.commandLine.Arguments...)
	return called.Command(slices.Insert(words, len(path), "--lock-timeout", "5m")...)
}

// unreached reports whether no connection was made: it was refused, the host has no address, or
// nothing answered in time.
func unreached(err error) bool {
	if _, unknown := errors.AsType[*net.DNSError](err); unknown || errors.Is(err, syscall.ECONNREFUSED) {
		return true
	}
	operation, ok := errors.AsType[*net.OpError](err) // not net.Error, which a context's DeadlineExceeded also is
	return ok && operation.Timeout()
}

// untrusted reports whether a server's certificate was rejected.
func untrusted(err error) bool {
	var refused *tls.CertificateVerificationError
	return errors.As(err, &refused)
}

// hintStale says what to do about a plan that no longer holds: see what has changed or, if the
// plan was not saved, see the new plan.
func (p *program) hintStale() string {
	args := p.commandLine.Arguments
	if slices.Contains(p.commandLine.Path, "many") {
		return "plan the set again: its other releases are as the plans of " + args[0] + " found them, or as they have left them"
	}
	if len(args) == 1 {
		args = []string{"--replan", args[0]}
	}
	look := slices.DeleteFunc(p.retyped("apply", args...), func(word string) bool { return word == "--yes" })
	return "nothing was written; see what is different now, and apply that: " + p.command(look...)
}

// hintAfter says what to do about a run that was rolled back, or whose rollback failed.
func (p *program) hintAfter(back *engine.RolledBackError) string {
	name, to, r := back.Release.Name, strconv.Itoa(back.To), back.Back.Revision
	switch {
	case back.Rollback == nil && len(back.Back.Remaining) > 0:
		return "fix what failed, and install it again once everything is gone"
	case back.Rollback == nil && back.To == 0:
		return "nothing of it is left; fix what failed and install it again"
	case back.Rollback == nil:
		failed := strconv.Itoa(r.Version - 1)
		return fmt.Sprintf("revision %s is what failed: %s", failed, p.command("get", "values", name, "--revision", failed))
	case back.To == 0:
		return p.command("plan", "uninstall", name) + " shows what is left to undo"
	case r == nil && apply.Passes(back.Rollback):
		return "once the API server answers, this is all that is left to do: " + p.command("rollback", name, to)
	default:
		return fmt.Sprintf("%s shows what is left to undo; %s does it", p.command("plan", "rollback", name, to), p.command("rollback", name, to))
	}
}
