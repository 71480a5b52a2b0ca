//go:build cluster

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/eventstream"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Every way a run can end, as machines read it: each line is JSON that matches the published
// schema, the first says who writes, the last how the run ended, each step that
// begins ends once, and no secret appears (the chart's password is canary-4711).
func TestEventsOfEveryWayOut(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, c := range []struct {
		name    string
		args    []string
		before  func(shop)
		code    int
		outcome eventstream.RunOutcome
		// told are the types that must occur among the events, in this order.
		told  []eventstream.Type
		check func(t *testing.T, end *eventstream.RunSummary, all []eventstream.Event)
	}{
		{
			name: "install", args: []string{"install", "web", webChart(), "--wait"}, outcome: eventstream.RunDone,
			told: []eventstream.Type{"planned", "stage", "started", "done", "stage", "done", "summary"},
			check: func(t *testing.T, end *eventstream.RunSummary, all []eventstream.Event) {
				if all[1].Plan == nil || all[1].Plan.Summary.Create != 5 || end.Counts[plan.OpCreate] != 5 {
					t.Errorf("the plan, or what was done of it, is not there: %v", end.Counts)
				}
				record, _ := end.Record.(map[string]any)
				if record["manifest"] == nil || record["name"] != "web" || end.Revision != 1 || end.Status != "deployed" || !strings.Contains(end.Notes, "says hello") {
					t.Errorf("the record says %v %v", record["name"], end)
				}
			},
		},
		{
			name: "nothing to do", args: []string{"apply", "web", webChart(), "--yes"}, outcome: eventstream.RunNothing,
			told: []eventstream.Type{"planned", "summary"},
		},
		{
			name: "nobody to be asked", args: []string{"apply", "web", webChart(), "--set", "greeting=moin"}, code: 1, outcome: eventstream.RunFailed,
			told: []eventstream.Type{"planned", "summary"},
		},
		{
			name: "a hook", args: []string{"upgrade", "web", webChart(), "--set", "hooks.pre-upgrade=migrate,greeting=moin"}, outcome: eventstream.RunDone,
			told: []eventstream.Type{"planned", "stage", "started", "progress", "done", "stage", "started", "done", "summary"},
			check: func(t *testing.T, end *eventstream.RunSummary, _ []eventstream.Event) {
				if end.Counts[plan.OpRun] != 1 || end.Counts[plan.OpPatch] != 2 {
					t.Errorf("done were %v", end.Counts)
				}
			},
		},
		{
			name: "a hook that fails", args: []string{"upgrade", "web", webChart(), "--set", "hooks.pre-upgrade=migrate,hookBehave=fail"}, code: 1, outcome: eventstream.RunFailed,
			told: []eventstream.Type{"started", "failed", "log", "summary"},
			check: func(t *testing.T, end *eventstream.RunSummary, _ []eventstream.Event) {
				if end.Status != "failed" || len(end.Failed) != 1 || !strings.Contains(end.Error, "no object of the release was changed; revision ") {
					t.Errorf("%+v", end)
				}
			},
		},
		{
			name: "atomic", args: []string{"upgrade", "web", webChart(), "--set", "behave=crash", "--atomic", "--overall-timeout", "15s"}, code: 5, outcome: eventstream.RunRolledBack,
			told: []eventstream.Type{"planned", "failed", "rollback", "planned", "started", "done", "summary"},
			check: func(t *testing.T, end *eventstream.RunSummary, all []eventstream.Event) {
				if u := end.Undo; u == nil || u.ToRevision != 2 || len(u.Undone) == 0 || len(u.NotUndone) != 0 || end.Status != "deployed" {
					t.Errorf("%+v", end)
				}
				failed := all[slices.IndexFunc(all, func(e eventstream.Event) bool { return e.Type == eventstream.Failed })]
				if !strings.Contains(strings.Join(failed.Reasons, "\n"), "CrashLoopBackOff") {
					t.Errorf("failed for %q", failed.Reasons)
				}
			},
		},
		{
			name: "a rollback that fails", args: []string{"upgrade", "web", webChart(), "--set", "behave=never-ready", "--atomic", "--overall-timeout", "15s"},
			before:  func(s shop) { s.must("upgrade", "web", webChart(), "--set", "hooks.pre-rollback=undo,hookBehave=fail") },
			code:    6,
			outcome: eventstream.RunRollbackFailed,
			told:    []eventstream.Type{"failed", "rollback", "planned", "failed", "log", "summary"},
			check: func(t *testing.T, end *eventstream.RunSummary, _ []eventstream.Event) {
				if u := end.Undo; u == nil || u.Error == "" || len(u.NotUndone) == 0 || end.Status != "failed" {
					t.Errorf("%+v", end)
				}
			},
		},
		{
			name: "blocked", args: []string{"upgrade", "web", webChart(), "--set", "legacy=false", "--deny", "delete"}, code: 1, outcome: eventstream.RunBlocked,
			told: []eventstream.Type{"planned", "summary"},
		},
		{
			name: "stale", args: []string{"apply", filepath.Join(t.TempDir(), "web.plan")}, code: 4, outcome: eventstream.RunStale,
			told: []eventstream.Type{"planned", "summary"},
		},
		{
			name: "not there", args: []string{"rollback", "nope"}, code: 1, outcome: eventstream.RunFailed,
			told: []eventstream.Type{"summary"},
		},
		{
			name: "bad arguments", args: []string{"rollback", "web", "perhaps"}, code: 1, outcome: eventstream.RunFailed,
			told: []eventstream.Type{"summary"},
		},
		{
			name: "locked", args: []string{"uninstall", "web"}, code: 7, outcome: eventstream.RunLocked,
			before: func(s shop) { s.lock("web") },
			told:   []eventstream.Type{"summary"},
		},
		{
			name: "two releases", args: []string{"uninstall", "nope", "web", "--ignore-not-found"}, outcome: eventstream.RunDone,
			told: []eventstream.Type{"summary", "planned", "started", "done", "summary"},
			check: func(t *testing.T, end *eventstream.RunSummary, all []eventstream.Event) {
				if first := all[1].Summary; first == nil || first.Outcome != eventstream.RunNothing || first.Release.Name != "nope" || end.Release.Name != "web" {
					t.Errorf("the releases are mixed up: %v", all[1])
				}
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := shop{T: t, namespace: s.namespace}
			if c.before != nil {
				c.before(s)
			}
			if c.outcome == eventstream.RunStale {
				s.must("plan", "web", webChart(), "--set", "greeting=ahoy", "--out", c.args[1])
				s.must("upgrade", "web", webChart(), "--set", "greeting=hi")
			}
			r := cluster.Run(t, clustertest.Program(t), "", append(c.args, "-o", "json", "--namespace", s.namespace)...)
			if r.ExitCode != c.code {
				t.Fatalf("exit code %d, want %d\n%s%s", r.ExitCode, c.code, r.Stdout, r.Stderr)
			}
			if strings.Contains(r.Stdout+r.Stderr, "canary-4711") {
				t.Error("a secret is seen")
			}
			all := readEvents(t, r.Stdout)
			toldInOrder(t, all, c.told)
			end := all[len(all)-1].Summary
			if end == nil || end.Outcome != c.outcome || end.ExitCode != c.code {
				t.Fatalf("the end is %+v", end)
			}
			if c.check != nil {
				c.check(t, end, all)
			}
		})
	}
}

// lock holds a release's lock, and keeps renewing it until the test ends.
func (s shop) lock(release string) {
	s.Helper()
	renew := func() string {
		now := time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
		return fmt.Sprintf(`{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "kubectl-release.%s"},
			"spec": {"holderIdentity": "somebody else", "acquireTime": %q, "renewTime": %q, "leaseDurationSeconds": 30}}`, release, now, now)
	}
	cluster.Apply(s.T, s.namespace, renew())
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(2 * time.Second):
				r := cluster.Run(s.T, cluster.Binaries.Kubectl, renew(), "apply", "--namespace", s.namespace, "--filename", "-")
				if r.ExitCode != 0 {
					s.Errorf("renew the lock: %s", r.Stderr)
				}
			}
		}
	}()
	s.Cleanup(func() {
		close(done)
		<-ended
		cluster.Kubectl(s.T, "delete", "lease", "kubectl-release."+release, "--namespace", s.namespace)
	})
}

// A run is not cut short by a reader that goes away, as head does.
func TestEventsOutliveTheirReader(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.program("install", "web", webChart(), "--wait", "-o", "json")
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout, c.Stderr = writer, writer
	reader.Close()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := s.get("secrets", "-l", "owner=helm,name=web", "-o", "jsonpath={.items[*].metadata.labels.status}"); got != "deployed" {
		t.Errorf("the release is %q", got)
	}
}

// A run that gets SIGTERM during a wait still reports in its last line how it ended.
func TestEventsEndOnASignal(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.program("install", "web", webChart(), "--set", "behave=never-ready", "--wait", "-o", "json")
	stdout, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	var out strings.Builder
	waiting := false
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		fmt.Fprintln(&out, lines.Text())
		if waiting || !strings.Contains(lines.Text(), `"type":"progress"`) {
			continue
		}
		waiting = true // for the Deployment
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	_ = c.Wait()
	all := readEvents(t, out.String())
	end := all[len(all)-1].Summary
	if end == nil || end.Outcome != eventstream.RunCancelled || end.ExitCode != 1 || end.Status != "failed" {
		t.Errorf("the end is %+v", end)
	}
}

// readEvents reads a stream and checks what every stream promises.
func readEvents(t *testing.T, text string) []eventstream.Event {
	t.Helper()
	schema := eventsSchema(t)
	var all []eventstream.Event
	open := map[string]bool{}
	for line := range strings.Lines(text) {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%v\n%.300s", err, line)
		}
		var e eventstream.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %.300s", err, line)
		}
		all = append(all, e)
		switch step := fmt.Sprint(e.Undoing, e.Step); {
		case e.Type == eventstream.Started && open[step], (e.Type == eventstream.Done || e.Type == eventstream.Failed) && !open[step]:
			t.Errorf("%s %s out of turn", e.Step, e.Type)
		case e.Type == eventstream.Started:
			open[step] = true
		case e.Type == eventstream.Done, e.Type == eventstream.Failed:
			delete(open, step)
		}
	}
	if len(all) < 2 || all[0].Type != eventstream.Version || all[0].FormatVersion != "1.0" || all[len(all)-1].Type != eventstream.Summary {
		t.Fatalf("the first or the last line is missing:\n%s", text)
	}
	if end := all[len(all)-1].Summary; len(open) > 0 && end.Outcome != eventstream.RunCancelled {
		t.Errorf("without an end: %v", open)
	}
	return all
}

func eventsSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	file, err := os.Open(inTree("docs", "events.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	document, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("events.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("events.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// toldInOrder checks that the types occur among the events in this order; others may come in between.
func toldInOrder(t *testing.T, all []eventstream.Event, want []eventstream.Type) {
	t.Helper()
	var got []eventstream.Type
	rest := want
	for _, e := range all {
		got = append(got, e.Type)
		if len(rest) > 0 && e.Type == rest[0] {
			rest = rest[1:]
		}
	}
	if len(rest) > 0 {
		t.Errorf("not told: %v\n%s", rest, cmp.Diff(want, got))
	}
}
