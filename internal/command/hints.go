package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/argv"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/retry"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// hint returns what to do about an error, usually the next command to type, or "".
func (p *program) hint(err error) string {
	if isA[*retry.PageError](err) {
		return "open the address in a browser to see who answers there; then log in, or check it, HTTPS_PROXY and NO_PROXY"
	}
	if text := p.hintSource(err); text != "" {
		return text
	}
	for _, hint := range []func(error) (text string, known bool){p.hintRun, p.hintRelease, p.hintCluster} {
		if text, known := hint(err); known {
			return text
		}
	}
	return ""
}

// hintRun is hint for how a run has ended, and for plans and input that are refused. known is set if
// no other hint fits, even if text is "".
func (p *program) hintRun(err error) (text string, known bool) {
	var left *leftError
	var back *engine.RolledBackError
	switch {
	case errors.As(err, &left):
		return left.next, true
	case errors.As(err, &back):
		return p.hintAfter(back), true
	case isA[*plan.ComparedError](err):
		return "make a plan with the cluster, without --against, and apply that", true
	case isA[*argv.UsageError](err), isA[*forgeError](err), isA[*releasestore.UnreachedDatabaseError](err): // the other hints are about clusters
		return "", true
	case isA[*engine.InvalidYAMLError](err) && p.commandLine.Path[0] == "template" && !p.connection.debug:
		return "--debug prints what the templates rendered", true
	case isA[*inputfile.OutsideError](err):
		return "if the link is your own, --" + outsideLinks + " follows it", true
	case isA[*movedError](err):
		pinned := p.retyped(p.commandLine.Path[0], append([]string{"--pinned"}, p.commandLine.Arguments...)...)
		return "nothing was written; make a new plan, or apply what was planned: " + p.command(pinned...), true
	case isA[*unapprovedError](err):
		return "nothing was written; have it reviewed again", true
	case isA[*engine.StaleError](err):
		return p.hintStale(), true
	}
	return "", false
}

// hintRelease is hint for a release that is not as the command needs it, or that another run works
// on, and for a run that has stopped on the way.
func (p *program) hintRelease(err error) (text string, known bool) {
	var exists *engine.ExistsError
	var noRelease *engine.NoReleaseError
	var noRevision *engine.NoRevisionError
	var locked *releasestore.LockedError
	var lost *releasestore.LostError
	var unfinished *unfinishedError
	var corrupt *releasestore.CorruptError
	switch {
	case errors.As(err, &exists) && exists.Status == release.StatusUninstalled:
		return "add --replace to use the name again", true
	case errors.As(err, &exists):
		return "upgrade it, or choose another name", true
	case errors.As(err, &noRelease) && noRelease.Operation == plan.Upgrade:
		return "install it, or add --install", true
	case errors.As(err, &noRelease):
		return p.command("list", "--all-namespaces") + " lists the existing releases", true
	case errors.As(err, &noRevision):
		return p.command("history", noRevision.Key.Name) + " lists the existing ones", true
	case errors.As(err, &locked):
		return p.wait() + "\nlook: " + p.command("status", locked.Key.Name), true
	case errors.As(err, &lost):
		return "another run may be working on it: check with " + p.command("status", lost.Key.Name), true
	case errors.As(err, &corrupt) && corrupt.OverLimit():
		return "Helm, which has no such limit, can read it", true
	case errors.As(err, &corrupt) && !corrupt.TooMuch():
		return "restore it from a backup, or delete it: what it says is lost then, and the revisions that are left count", true
	case errors.As(err, &unfinished) && p.goOn(unfinished) != "":
		return p.goOn(unfinished), true
	case errors.Is(err, apply.ErrBlocked):
		return "nothing was written", true
	case errors.Is(err, context.Canceled):
		return "", true
	}
	return "", false
}

// hintCluster is hint for a cluster that can't be reached, or refuses.
func (p *program) hintCluster(err error) (text string, known bool) {
	switch {
	case apierrors.IsForbidden(err) && p.commandLine.Path[0] == "list":
		return "name a namespace that you may read: " + p.invocation.In("NAMESPACE").Command("list"), true
	case apierrors.IsForbidden(err) && plan.RoleFor(err.Error()) != "":
		return plan.RoleFor(err.Error()) + ", or use another identity (--as, --context)", true
	case errors.Is(err, errNoCluster) && p.hasFlag("against"):
		return "--offline compares two charts without one", true
	case clientcmd.IsContextNotFound(err):
		return "kubectl config get-contexts lists the existing ones", true
	case untrusted(err):
		return hintCertificate(err, "the API server's certificate is not trusted: is it the right cluster? If so, pass its CA: --certificate-authority FILE",
			"If so, name the server as its certificate does: --tls-server-name NAME"), true
	case unlogged(err):
		return "the kubeconfig names a program that gets credentials: log in with it, or run it by hand to see why it fails", true
	case proxied(err):
		return "a proxy is in between: check HTTPS_PROXY and NO_PROXY, or proxy-url in the kubeconfig", true
	case apierrors.IsUnauthorized(err):
		return "log in again, or choose another context with --context", true
	case unreached(err):
		return "check the cluster and the context: kubectl cluster-info", true
	case unanswered(err):
		return "something accepts the connection and does not answer: check the address, and HTTPS_PROXY if there is a proxy", true
	}
	return "", false
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

// unanswered reports whether a request was sent and nothing answered in time.
func unanswered(err error) bool {
	request, sent := errors.AsType[*url.Error](err)
	return sent && errors.Is(request.Err, context.DeadlineExceeded)
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
