//go:build cluster

package trust

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-release/kubectl-release/plan"
)

// recordedName is the name under which this binary runs as runRecorded.
const recordedName = "recorded-release"

// recorder keeps what the runs of a program report and do. Its program is this binary
// under another name, which replaces itself with the real program, so that signals reach it.
type recorder struct{ dir string }

func newRecorder(t testing.TB, program string) recorder {
	t.Helper()
	r := recorder{t.TempDir()}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{recordedName: own, "program": program} {
		if err := os.Symlink(target, filepath.Join(r.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// program returns the path of the program that scripts run.
func (r recorder) program() string { return filepath.Join(r.dir, recordedName) }

// recording is what is stored about a run before it begins.
type recording struct {
	Args []string
	// Server is the API server's address that the run was given.
	Server string
	// Streams reports whether the run was made to print its events.
	Streams bool
}

// runExtra is the key in the user's extra fields by which the requests of runs can be told
// apart in the API server's audit log.
const runExtra = "run"

// runRecorded replaces itself with the program next to it, with a user of its own and, for a
// command that applies something, with its events in a file instead of its usual output.
func runRecorded() {
	if err := becomeProgram(); err != nil {
		fmt.Fprintln(os.Stderr, "recorded:", err)
		os.Exit(125)
	}
}

func becomeProgram() error {
	dir, args := filepath.Dir(os.Args[0]), slices.Clone(os.Args[1:])
	id := strings.ToLower(rand.Text())
	kept := recording{Args: slices.Clone(args)}
	kubeconfig := filepath.Join(dir, id+".kubeconfig")
	given := os.Getenv("KUBECONFIG")
	if i := slices.Index(args, "--kubeconfig"); i >= 0 {
		given, args[i+1] = args[i+1], kubeconfig
	}
	var err error
	if kept.Server, err = tagged(given, kubeconfig, id, slices.Contains(args, "--kube-as-user")); err != nil {
		return err
	}
	if kept.Streams = applies(args); kept.Streams {
		args = slices.Insert(args, 1, "-o", "json")
		events, err := os.Create(filepath.Join(dir, id+".events"))
		if err != nil {
			return err
		}
		if err := syscall.Dup2(int(events.Fd()), 1); err != nil {
			return err
		}
	}
	data, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, id+".run"), data, 0o600); err != nil {
		return err
	}
	if err := os.Setenv("KUBECONFIG", kubeconfig); err != nil {
		return err
	}
	program := filepath.Join(dir, "program")
	return syscall.Exec(program, append([]string{program}, args...), os.Environ())
}

// applies reports whether a command line applies something.
func applies(args []string) bool {
	return len(args) > 0 && slices.Contains([]string{"install", "upgrade", "rollback", "uninstall", "test", "apply"}, args[0]) &&
		!slices.ContainsFunc(args, func(arg string) bool {
			return arg == "-o" || strings.HasPrefix(arg, "--output") || strings.HasPrefix(arg, "--dry-run")
		})
}

// tagged writes a copy of a kubeconfig with the run's ID in its users, and returns its server.
// A run that impersonates somebody with a flag keeps that user.
func tagged(from, to, id string, other bool) (server string, err error) {
	config, err := clientcmd.LoadFromFile(from)
	if err != nil {
		return "", err
	}
	for _, user := range config.AuthInfos {
		user.ImpersonateUserExtra = map[string][]string{runExtra: {id}}
		if !other {
			user.Impersonate, user.ImpersonateGroups = "recorded", []string{"system:masters"}
		}
	}
	for _, c := range config.Clusters {
		server = c.Server
	}
	return server, clientcmd.WriteToFile(*config, to)
}

// runs returns the recorded runs with their writes from the audit log, by ID.
func (r recorder) runs(t testing.TB, log map[string][]write) map[string]recordedRun {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(r.dir, "*.run"))
	if err != nil {
		t.Fatal(err)
	}
	direct, err := clientcmd.LoadFromFile(cluster.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	var servers []string
	for _, c := range direct.Clusters {
		servers = append(servers, c.Server)
	}
	runs := map[string]recordedRun{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var kept recording
		if err := json.Unmarshal(data, &kept); err != nil {
			t.Fatal(err)
		}
		id := strings.TrimSuffix(filepath.Base(file), ".run")
		run := recordedRun{line: strings.Join(kept.Args, " "), played: played{
			begun: map[string]bool{}, begunBack: map[string]bool{}, ended: map[string]bool{}, endedBack: map[string]bool{},
			failed: true, writes: log[id],
		}}
		run.spoilt = !slices.Contains(servers, kept.Server)
		if kept.Streams {
			run.read(t, strings.TrimSuffix(file, ".run")+".events")
		}
		runs[id] = run
	}
	return runs
}

// recordedRun is a run with its command line.
type recordedRun struct {
	line    string
	outcome string // of its summary; "" if it was killed
	played
}

// event is the part of one of the program's events that this test reads.
type event struct {
	Type, Step, Message string
	Undoing             bool
	Plan                *plan.Plan
	Summary             *struct{ Outcome string }
}

// read reads the events of a run: the plan that was reported last is the one that was
// carried out.
func (r *recordedRun) read(t testing.TB, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	summaries := 0
	for line := range bytes.Lines(data) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // it was killed
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%s: %v: %s", r.line, err, line)
		}
		begun, ended := r.begun, r.ended
		if e.Undoing {
			begun, ended = r.begunBack, r.endedBack
		}
		switch e.Type {
		case "planned":
			if e.Undoing {
				r.back = e.Plan
			} else {
				r.forth = e.Plan
				clear(r.begun)
				clear(r.ended)
			}
		case "started":
			begun[e.Step] = true
		case "done", "failed":
			ended[e.Step] = e.Type == "done"
		case "note":
			r.leaves = r.leaves || strings.HasPrefix(e.Message, "the release is deployed, but ")
		case "summary":
			summaries++
			r.outcome = e.Summary.Outcome
			r.failed = !slices.Contains([]string{"done", "nothing"}, e.Summary.Outcome)
			if slices.Contains([]string{"nothing", "blocked", "stale", "locked"}, e.Summary.Outcome) {
				r.forth = nil // it was not carried out
			}
		}
	}
	if summaries > 1 {
		t.Fatalf("%s: this test can't tell apart what was written to several releases", r.line)
	}
}

// auditLog is the path of the audit log of the suite's API server.
type auditLog string

// writes returns the writes of the recorded runs, by run, in the order of their arrival. It does
// not count dry runs; access reviews, which are created but not stored; and writes to the
// Lease that is a release's lock, which a run takes, renews and releases.
func (log auditLog) writes(t testing.TB) map[string][]write {
	t.Helper()
	log.mark(t)
	file, err := os.Open(string(log))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	type request struct {
		id string
		at time.Time
		write
	}
	var found []request
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if !bytes.Contains(lines.Bytes(), []byte(`"`+runExtra+`":["`)) {
			continue
		}
		var e auditEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if id := e.ImpersonatedUser.Extra[runExtra]; len(id) == 1 && e.counts() {
			found = append(found, request{id[0], e.RequestReceivedTimestamp.Time, e.write()})
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(found, func(a, b request) int { return a.at.Compare(b.at) })
	runs := map[string][]write{}
	for _, r := range found {
		runs[r.id] = append(runs[r.id], r.write)
	}
	return runs
}

// mark makes a request and waits until it is in the log, with all those before it.
func (log auditLog) mark(t testing.TB) {
	t.Helper()
	file, err := os.Open(string(log))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	from, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(cluster.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	name := "end-of-" + strings.ToLower(rand.Text())
	_, _ = client.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{}) // it does not exist
	for range 6000 {
		data, err := io.ReadAll(io.NewSectionReader(file, from, math.MaxInt64-from))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(name)) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the audit log does not come to its end")
}

// auditEvent is the part of an audit.k8s.io/v1 Event that this test reads.
type auditEvent struct {
	Stage, Verb, RequestURI  string
	RequestReceivedTimestamp metav1.MicroTime
	ImpersonatedUser         struct{ Extra map[string][]string }
	ResponseStatus           struct{ Code int }
	ObjectRef                struct{ APIGroup, Resource, Subresource, Namespace, Name string }
}

// counts reports whether the event is the answer to a request that counts as a write.
func (e auditEvent) counts() bool {
	of := e.ObjectRef
	return e.Stage == "ResponseComplete" && slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, e.Verb) &&
		!strings.Contains(e.RequestURI, "dryRun=All") && of.APIGroup != "authorization.k8s.io" &&
		(of.APIGroup != "coordination.k8s.io" || of.Resource != "leases" || !strings.HasPrefix(of.Name, "kubectl-release."))
}

func (e auditEvent) write() write {
	of := e.ObjectRef
	w := write{verb: e.Verb, code: e.ResponseStatus.Code, resource: resource{of.APIGroup, of.Resource, of.Namespace, of.Name}}
	if of.Subresource != "" {
		w.resource.resource += "/" + of.Subresource
	}
	if w.resource.resource == "namespaces" { // the log gives the namespace itself as the request's namespace
		w.namespace = ""
	}
	return w
}

// asPlanned checks the writes of all runs against their plans; whole says that every
// scenario was played, so that each way a run can end must have occurred.
func (r recorder) asPlanned(t *testing.T, whole bool) {
	t.Helper()
	if audit == "" {
		t.Log("a cluster that is used again has no audit log: what was written is not matched with the plans")
		return
	}
	ways := map[string]int{}
	for _, run := range r.runs(t, audit.writes(t)) {
		for _, wrong := range run.unplanned() {
			t.Errorf("%s: %s", run.line, wrong)
		}
		ways["in all"]++
		ways["writes"] += len(run.writes)
		for way, taken := range run.ways() {
			if taken {
				ways[way]++
			}
		}
	}
	t.Logf("runs held to their plans: %v", ways)
	for way := range (recordedRun{}).ways() {
		if whole && ways[way] == 0 {
			t.Errorf("no run was held to its plan that went this way: %s", way)
		}
	}
}

// ways returns in which ways a run ended.
func (r recordedRun) ways() map[string]bool {
	wrote := r.forth != nil && len(r.writes) > 0
	cleans := wrote && r.forth.OnFailure != nil && slices.ContainsFunc(r.forth.OnFailure.Stages, func(s plan.Stage) bool { return s.Name == plan.StageCleanup })
	return map[string]bool{
		"success": wrote && !r.failed, "failure": wrote && r.failed && r.back == nil, "atomic": wrote && r.back != nil,
		"cleanup-on-fail": cleans, "signal": wrote && r.outcome == "cancelled", "killed": wrote && r.outcome == "",
		"reads only": r.forth == nil && len(r.writes) == 0,
	}
}
