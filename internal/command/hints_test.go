package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-release/kubectl-release/internal/argv"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/sourcetest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// failsNext has the next write of the chart's ConfigMap refused.
func (d *desk) failsNext() { d.fails(1) }

// fails has one of the next writes of objects refused.
func (d *desk) fails(number int) {
	failing := d.Calls + number
	d.Trouble = func(call int) clusterfake.Trouble {
		if call == failing {
			return clusterfake.Trouble{Before: apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "web", errors.New("a webhook"))}
		}
		return clusterfake.Trouble{}
	}
}

// hints returns the commands that an answer suggests.
func (a answer) hints() []string {
	var out []string
	for line := range strings.Lines(a.err + a.out) {
		if _, command, found := strings.Cut(line, "kubectl release "); found && !strings.HasPrefix(line, "Error") {
			out = append(out, strings.TrimSuffix(command, "\n"))
		}
	}
	return out
}

// A6: A hint can be pasted: it repeats namespace, context and kubeconfig as they were typed, and
// the flags of the command that it continues.
func TestHintsCanBePasted(t *testing.T) {
	const typed, same = " -n shop --context dev --kubeconfig /k", " --namespace shop --kubeconfig /k --context dev"
	d := atDesk(t)
	d.must("install web ./web" + typed)
	for _, c := range []struct {
		line  string
		fails bool
		want  []string
	}{
		{"status nope" + typed, false, []string{"list --all-namespaces --kubeconfig /k --context dev lists the existing releases"}},
		{"rollback web 7" + typed, false, []string{"history web" + same + " lists the existing ones"}},
		{"upgrade web ./web --set text=two" + typed, true, []string{"upgrade web ./web --set text=two" + same, "rollback web 1" + same}},
		{"upgrade web ./web --set text=two --atomic" + typed, true, []string{"get values web --revision 3" + same}},
		{"install new ./web --take-ownership" + typed, true, []string{"upgrade --install new ./web --take-ownership" + same, "uninstall new" + same}},
		{"status new" + typed, false, []string{"upgrade --install new CHART" + same, "uninstall new" + same}},
	} {
		if c.fails {
			d.failsNext()
		}
		a := d.types(c.line)
		if diff := cmp.Diff(c.want, a.hints()); diff != "" {
			t.Errorf("%s: -want +got:\n%s\n%s", c.line, diff, a.err)
		}
	}
}

// The question says what is to be done to which release of which cluster, and only yes counts as yes.
func TestTheQuestionNamesReleaseAndCluster(t *testing.T) {
	d := atDesk(t)
	keyboard, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer keyboard.Close()
	defer terminal.Close()
	d.in = terminal
	for _, typed := range []string{"y", "yes"} {
		if _, err := keyboard.WriteString(typed + "\n"); err != nil {
			t.Fatal(err)
		}
		a := d.types("apply web ./web")
		if !strings.Contains(a.err, "\nApply these changes to shop/web in context dev (prod.example:6443)? Type yes: ") {
			t.Errorf("it asks %q", a.err)
		}
		if !strings.Contains(a.out, "    context dev (prod.example:6443), Kubernetes 1.36.3\n") {
			t.Errorf("above it stands\n%s", a.out)
		}
		if done := a.code == exitDone; done != (typed == "yes") {
			t.Errorf("%s: exit code %d", typed, a.code)
		}
	}
}

// isLocked has another process hold the lock of shop/web.
func isLocked(t *testing.T, d *desk) {
	t.Helper()
	holder, now, lasts := "ann on ci-1, process 7", metav1.NowMicro(), int32(30)
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "kubectl-release.web", Namespace: "shop"},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, AcquireTime: &now, RenewTime: &now, LeaseDurationSeconds: &lasts},
	}
	if _, err := d.client.CoordinationV1().Leases("shop").Create(t.Context(), lease, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// A lock is freed only when somebody is there to confirm it, or with --yes.
func TestUnlockAsks(t *testing.T) {
	d := atDesk(t)
	d.must("install web ./web")
	isLocked(t, d)
	if a := d.types("unlock web"); a.code != exitError || !strings.Contains(a.err, "Error: the lock was not freed: there is no terminal to ask on; use --yes to go ahead without confirmation\n") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
	if a := d.must("unlock web --yes"); !strings.Contains(a.out, "is held by ann on ci-1, process 7") || !strings.Contains(a.out, "It is free.") {
		t.Errorf("it says\n%s", a.out)
	}
}

// A run that died before its first record has left only its lock: that it is freed is no failure.
func TestUnlockOfNoRelease(t *testing.T) {
	d := atDesk(t)
	isLocked(t, d)
	if a := d.must("unlock web --yes"); !strings.HasSuffix(a.out, "It is free.\n") || a.err != "" {
		t.Errorf("it says\n%s%s", a.out, a.err)
	}
	if a := d.types("unlock web"); a.code != exitError || !strings.Contains(a.err, "there is no release web") {
		t.Errorf("without a lock: exit code %d\n%s%s", a.code, a.out, a.err)
	}
}

// A failed rollback says how to go on, even if it was not recorded.
func TestTheHintsAfterAFailedRollback(t *testing.T) {
	for want, back := range map[string]*engine.RolledBackError{
		"kubectl release plan rollback web 1 shows what is left to undo; kubectl release rollback web 1 does it": {To: 1, Rollback: errors.New("blocked")},
		"once the API server answers, this is all that is left to do: kubectl release rollback web 1":            {To: 1, Rollback: fmt.Errorf("read the records: %w", syscall.ECONNREFUSED)},
		"kubectl release plan uninstall web shows what is left to undo":                                          {Rollback: errors.New("blocked")},
	} {
		back.Release, back.Cause = release.Key{Namespace: "shop", Name: "web"}, errors.New("it failed")
		if got := newProgram(Streams{}, "kubectl release").hint(back); got != want {
			t.Errorf("%v\ngives %q, want %q", back, got, want)
		}
	}
}

// What HELM_DRIVER=sql needs is said without anything that is masked, and a database that does not answer is
// no reason to check the cluster.
func TestTheHintsAboutADatabase(t *testing.T) {
	d := atDesk(t)
	t.Setenv("HELM_DRIVER", "sql")
	t.Setenv("PGHOST", "")
	t.Setenv("PGDATABASE", "")
	t.Setenv("HELM_DRIVER_SQL_CONNECTION_STRING", "")
	if a := d.types("list"); !strings.Contains(a.err, "to its URL, postgresql://HOST:PORT/DATABASE, with") {
		t.Errorf("it says\n%s", a.err)
	}
	t.Setenv("HELM_DRIVER_SQL_CONNECTION_STRING", "postgresql://ann:s3cr3t@127.0.0.1:1/releases")
	if a := d.types("list"); !strings.Contains(a.err, "connect to PostgreSQL (127.0.0.1:1, database releases, user ann): ") || strings.Contains(a.err, "Hint:") {
		t.Errorf("it says\n%s", a.err)
	}
}

// The hint to wait for a lock is the command that was typed, subcommand and all, with one --lock-timeout.
func TestTheHintToWaitForALock(t *testing.T) {
	d := atDesk(t)
	d.file("releases.yaml", "version: 1\nreleases:\n- {name: web, namespace: shop, chart: ./web}\n")
	d.must("plan many releases.yaml --out plans")
	d.must("plan web ./web --out web.plan")
	isLocked(t, d)
	for line, want := range map[string]string{
		"apply many plans --keep-going --lock-timeout 1ms": "apply many --lock-timeout 5m plans --keep-going",
		"apply web.plan --lock-timeout=1ms":                "apply --lock-timeout 5m web.plan",
	} {
		if a := d.types(line); !strings.Contains(a.err, "wait for it: kubectl release "+want+"\n") {
			t.Errorf("%s: exit code %d\n%s%s", line, a.code, a.out, a.err)
		}
	}
}

// Once another release of a set is written, the plans of the set no longer hold, and the hint is to plan it
// again; before that, the command can be repeated.
func TestTheHintToWaitForALockInASet(t *testing.T) {
	d := atDesk(t)
	d.file("own/Chart.yaml", "{apiVersion: v2, name: own, version: 1.0.0}")
	const head, hint = "version: 1\ndefaults: {namespace: shop}\nreleases:\n- {name: web, chart: ./web}\n- {name: own, chart: ./own", "then plan the set again: "
	d.file("together.yaml", head+"}\n")
	d.file("later.yaml", head+", needs: [web]}\n")
	d.must("plan many together.yaml --out together")
	d.must("plan many later.yaml --out later")
	isLocked(t, d)
	a := d.types("apply many later --lock-timeout 1ms")
	if a.code != exitLocked || !strings.Contains(a.err, "wait for it: kubectl release apply many --lock-timeout 5m later\n") || strings.Contains(a.err, hint) {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
	a = d.types("apply many together --keep-going --lock-timeout 1ms")
	if a.code != exitLocked || !strings.Contains(a.err, hint) || strings.Contains(a.err, "--lock-timeout") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
	d.must("uninstall own")
	d.must("plan many together.yaml --out together")
	a = d.types("apply many together --keep-going --lock-timeout 1ms -o json")
	if a.code != exitLocked || strings.Count(a.out, hint) != 1 || strings.Contains(a.out, "--lock-timeout") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
}

// Of several releases to uninstall, the hint is about those that are left, and the error says which are gone.
func TestTheHintToUninstallWhatIsLeft(t *testing.T) {
	d := atDesk(t)
	d.file("own/Chart.yaml", "{apiVersion: v2, name: own, version: 1.0.0}")
	d.must("install own ./own")
	d.must("install web ./web")
	isLocked(t, d)
	a := d.types("uninstall own gone web --ignore-not-found --lock-timeout 1ms")
	if a.code != exitLocked || !strings.Contains(a.err, "Error: own is uninstalled; web: ") || !strings.Contains(a.err, "wait for it: kubectl release uninstall --lock-timeout 5m web --ignore-not-found\n") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
	p := &program{commandLine: &argv.Line{}}
	p.turnTo([]string{"own", "other"}, []string{"web"})
	if left := p.leftover(); left.text != "stopped at once: own, other are uninstalled; nothing was recorded after that" {
		t.Error(left.text)
	}
	// Of a set no command goes on: it has to be planned again.
	p = newProgram(Streams{}, "kubectl release")
	p.commandLine = &argv.Line{Path: []string{"apply", "many"}}
	p.underway.begin(&plan.Plan{Document: plan.Document{Operation: plan.Upgrade, Release: release.Key{Namespace: "shop", Name: "web"}}})
	p.underway.record = &plan.Record{Revision: 2, Status: release.StatusPendingUpgrade}
	if left := leftoverOf([]*program{p}); left.next != "look: kubectl release status web" {
		t.Errorf("%q, %q", left.text, left.next)
	}
	d.must("unlock web --yes")
	d.failsNext()
	if a := d.types("uninstall web own"); !slices.Contains(a.hints(), "uninstall web own") {
		t.Errorf("exit code %d\n%s%s", a.code, a.out, a.err)
	}
}

// Helm takes --kubeconfig and --kube-as-group off the line of a plugin and passes them in variables: hints have them.
func TestHintsOfAPluginHaveWhatHelmTakesOff(t *testing.T) {
	d := atDesk(t)
	for variable, value := range map[string]string{"HELM_PLUGIN_NAME": "release", "HELM_KUBEASUSER": "me", "HELM_KUBEASGROUPS": "a,b", "KUBECONFIG": "/k"} {
		t.Setenv(variable, value)
	}
	const to = " --as me --as-group a --as-group b"
	for variable, want := range map[string]string{"/k": " --kubeconfig /k" + to, "/k" + string(os.PathListSeparator) + "/l": to, "": to} {
		t.Setenv("KUBECONFIG", variable)
		if a := d.types("rollback web 7"); !slices.Contains(a.hints(), "list --all-namespaces"+want+" lists the existing releases") {
			t.Errorf("%s: %q", variable, a.err)
		}
	}
	t.Setenv("HELM_PLUGIN_NAME", "")
	if a := d.types("rollback web 7"); !slices.Contains(a.hints(), "list --all-namespaces lists the existing releases") {
		t.Errorf("what the next command has anyway is repeated: %q", a.err)
	}
}

// The releases of a set give their hints at the same time: none changes what another one says was typed.
func TestHintsLeaveTheCommandLineAlone(t *testing.T) {
	p := newProgram(Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, "kubectl release")
	p.commandLine = &argv.Line{Path: []string{"apply"}, Arguments: []string{"web.plan"}, Flags: []argv.Flag{{Name: "lock-timeout", Value: "1m", HasValue: true}, {Name: "yes"}}}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				p.queue()
			}
		})
	}
	all.Wait()
	if n := len(p.commandLine.Flags); n != 2 {
		t.Errorf("%d flags were typed, %v", n, p.commandLine.Flags)
	}
}

// The variables that Helm passes to its plugins, and reads itself, say which cluster is meant.
func TestHelmsVariablesSayWhichCluster(t *testing.T) {
	d := atDesk(t)
	for variable, value := range map[string]string{
		"HELM_NAMESPACE": "team", "HELM_KUBECONTEXT": "dev", "HELM_KUBEAPISERVER": "https://h", "HELM_KUBETOKEN": "t0ken", "HELM_KUBEASUSER": "me",
		"HELM_KUBEASGROUPS": "a,b", "HELM_KUBECAFILE": "/ca", "HELM_KUBETLS_SERVER_NAME": "n", "HELM_KUBEINSECURE_SKIP_TLS_VERIFY": "true", "HELM_QPS": "5.5",
	} {
		t.Setenv(variable, value)
	}
	p := newProgram(Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, "kubectl release")
	var got []any
	p.dial = func(o *connectionFlags) (api, string, error) {
		c := o.config()
		got = []any{*c.Namespace, *c.Context, *c.APIServer, *c.BearerToken, *c.Impersonate, *c.ImpersonateGroup, *c.CAFile, *c.TLSServerName, *c.Insecure, o.qps}
		return memory{d.Cluster, d.client}, "team", nil
	}
	if code := p.main(t.Context(), nil, []string{"kubectl-release", "list"}); code != exitDone {
		t.Fatalf("exit code %d", code)
	}
	if diff := cmp.Diff([]any{"team", "dev", "https://h", "t0ken", "me", []string{"a", "b"}, "/ca", "n", true, 5.5}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A run that a signal ends before it writes says so, whether it plans or applies a saved plan.
func TestStoppedBeforeAnythingIsWritten(t *testing.T) {
	const want = "Error: stopped by a signal; nothing was written\n"
	for name, line := range map[string]string{"planned": "upgrade web ./web --set text=two", "reviewed": "apply web.plan"} {
		t.Run(name, func(t *testing.T) {
			d := atDesk(t)
			d.must("install web ./web")
			d.must("plan web ./web --set text=two --out web.plan")
			before := d.Calls
			ctx, stop := context.WithCancel(t.Context())
			stop()
			if a := d.typesIn(ctx, line); a.code != exitError || !strings.HasSuffix(a.err, want) || d.Calls != before {
				t.Errorf("exit code %d, %d writes\n%s", a.code, d.Calls-before, a.err)
			}
		})
	}
}

// The hint for a plan that no longer holds is to review it again before anything is applied; for
// one whose chart has changed meanwhile, it is a complete command that applies it all the same.
func TestHintsOfPlansThatNoLongerHold(t *testing.T) {
	d := atDesk(t)
	d.must("install web ./web")
	d.must("plan web ./web --set text=two --out web.plan")
	d.must("upgrade web ./web --set text=three")
	if a := d.types("apply web.plan --yes"); !slices.Contains(a.hints(), "apply --replan web.plan") {
		t.Errorf("%q\n%s", a.hints(), a.err)
	}
	p := newProgram(Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, "kubectl release")
	p.appFor(nil)
	p.commandLine = &argv.Line{Path: []string{"apply"}, Arguments: []string{"web.plan"}, Flags: []argv.Flag{{Name: "yes"}}}
	want := "nothing was written; make a new plan, or apply what was planned: kubectl release apply --pinned web.plan --yes"
	if got := p.hint(&movedError{&engine.StaleError{}}); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A hint about charts names what was typed, and suggests nothing that would have no effect.
func TestHintsAboutCharts(t *testing.T) {
	d := atDesk(t)
	d.file("um/Chart.yaml", "{apiVersion: v2, name: um, version: 1.0.0, dependencies: [{name: a, version: 1.0.0, repository: 'https://charts.example.com'}]}")
	d.file("um/Chart.lock", "{dependencies: [{name: a, version: 1.0.0, repository: 'https://charts.example.com'}], digest: 'sha256:0', generated: '2026-01-01T00:00:00Z'}")
	for line, want := range map[string]string{
		"template web ./um":     "fetch them: kubectl release dependency build ./um",
		"dependency build ./um": "kubectl release dependency update ./um writes a new lock",
	} {
		if a := d.types(line); !strings.Contains(a.err, want) {
			t.Errorf("%s: %s", line, a.err)
		}
	}
}

// If several dependencies can't be fetched, each is named, in the order of Chart.yaml.
func TestEveryDependencyThatIsMissingIsNamed(t *testing.T) {
	d := atDesk(t)
	registry := sourcetest.Serve(t, sourcetest.Options{})
	repository := "oci://" + strings.TrimPrefix(registry.URL, "http://") + "/charts"
	for dependencies, want := range map[string]string{
		"{name: a, version: 1.0.0, repository: '" + repository + "'}, {name: b, version: 1.0.0, repository: '" + repository + "'}": "dependency a: .*\ndependency b: ",
		"{name: a, version: 1.0.0, repository: 'ftp://h/a'}, {name: b, version: 1.0.0, repository: 'ftp://h/b'}":                   "dependency a: .*\ndependency b: ",
		"{name: a, version: 1.0.0, repository: '@x'}, {name: b, version: 1.0.0, repository: '@y'}":                                 "dependency a is .*\ndependency b is ",
	} {
		d.file("um/Chart.yaml", "{apiVersion: v2, name: um, version: 1.0.0, dependencies: ["+dependencies+"]}")
		if a := d.types("dependency update ./um --plain-http"); a.code == 0 || !regexp.MustCompile(want).MatchString(a.err) {
			t.Errorf("%s: %d, %s", dependencies, a.code, a.err)
		}
	}
}

// Whoever may not read the releases is told which role to ask for.
func TestHintNamesTheRoleThatIsMissing(t *testing.T) {
	p := newProgram(Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, "kubectl release")
	p.commandLine = &argv.Line{Path: []string{"status"}}
	refused := &apierrors.StatusError{ErrStatus: metav1.Status{
		Reason: metav1.StatusReasonForbidden, Code: 403,
		Message: `secrets is forbidden: User "ann" cannot list resource "secrets" in API group "" in the namespace "shop"`,
	}}
	const want = "ask for a role that grants it (kubectl create role NAME --namespace shop --verb list --resource secrets), or use another identity (--as, --context)"
	if got := p.hint(refused); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p.commandLine = &argv.Line{Path: []string{"plan"}, Flags: []argv.Flag{{Name: "against"}}}
	config := clientcmdapi.Config{Clusters: map[string]*clientcmdapi.Cluster{"dev": {Server: "https://dev"}}}
	if got := p.hint(fmt.Errorf("read the kubeconfig: %w", clientcmd.ConfirmUsable(config, "nope"))); got != "kubectl config get-contexts lists the existing ones" {
		t.Error(got)
	}
	if got := p.hint(errNoCluster); got != "--offline compares two charts without one" {
		t.Error(got)
	}
}

// Whoever has no connection is told to check the cluster; the error's type decides that, not its words.
func TestHintOfAClusterThatIsNotReached(t *testing.T) {
	dial := func(err error) error {
		return fmt.Errorf("ask: %w", &url.Error{Op: "Get", URL: "https://c", Err: &net.OpError{Op: "dial", Net: "tcp", Err: err}})
	}
	for why, tc := range map[string]struct {
		err  error
		want bool
	}{
		"refused":                         {dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), true},
		"no address":                      {dial(&net.DNSError{Err: "no such host", Name: "c", IsNotFound: true}), true},
		"nothing answers":                 {dial(os.ErrDeadlineExceeded), true},
		"time is over":                    {fmt.Errorf("ask: %w", context.DeadlineExceeded), false},
		"a chart that says such a thing":  {errors.New("values: connection refused"), false},
		"another error of the connection": {dial(os.NewSyscallError("connect", syscall.EACCES)), false},
	} {
		if got := unreached(tc.err); got != tc.want {
			t.Errorf("%s: %t (%v)", why, got, tc.err)
		}
	}
}

// Whoever reaches something that does not answer is told what else that may be.
func TestHintOfAServerThatDoesNotAnswer(t *testing.T) {
	p := newProgram(Streams{}, "kubectl release")
	silent := fmt.Errorf("list Secrets: %w", &url.Error{Op: "Get", URL: "https://c", Err: context.DeadlineExceeded})
	if got := p.hint(silent); !strings.Contains(got, "does not answer: check the address, and HTTPS_PROXY") {
		t.Errorf("hint %q", got)
	}
	if got := p.hint(fmt.Errorf("wait: %w", context.DeadlineExceeded)); got != "" {
		t.Errorf("hint %q for a time that is over", got)
	}
}

// A context that does not exist has the same hint with a namespace, as under Helm, which always
// names one.
func TestNoSuchContext(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	t.Setenv("KUBECONFIG", file)
	if err := os.WriteFile(file, []byte("{apiVersion: v1, kind: Config, clusters: [{name: c, cluster: {server: https://h}}], contexts: [{name: a, context: {cluster: c}}], current-context: a}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, namespace := range []string{"", "shop"} {
		p := newProgram(Streams{}, "kubectl release")
		_, _, err := p.dialKubeconfig(&connectionFlags{context: "nope", namespace: namespace})
		if got := p.hint(err); got != "kubectl config get-contexts lists the existing ones" {
			t.Errorf("namespace %q: %v, hint %q", namespace, err, got)
		}
	}
}
