package apply

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An event's text is what has happened and what is behind it, whatever it is kept in.
func TestEventText(t *testing.T) {
	late := &NotReadyError{Object: "Deployment/web", Why: "0 of 1 ready", Diagnosis: Diagnosis{
		Reasons: []Reason{{Of: []string{"Pod/web-1"}, Cause: "it crashes"}}, Log: Log{Of: "Pod/web-1, container app", Lines: []string{"oops", ""}},
	}}
	behind := []string{"Pod/web-1: it crashes", "| log of Pod/web-1, container app:", "| oops", "| "}
	for name, c := range map[string]struct {
		event   Event
		message string
		behind  []string
	}{
		"a state has a diagnosis when it lasts": {
			Event{Type: StepProgress, Message: late.Why, Diagnosis: late.Diagnosis}, "0 of 1 ready", behind,
		},
		"of a wait that failed the diagnosis is told, not the error": {
			Event{Type: StepFailed, Message: late.Why, Diagnosis: late.Diagnosis, Cause: late}, "0 of 1 ready", behind,
		},
		"of other failures the further lines of the error are what is behind it": {
			Event{Type: StepFailed, Message: "patch: refused\n  by policy\nand again"}, "patch: refused", []string{"by policy", "and again"},
		},
		"a way back says why, and where it leads": {
			Event{Type: RollbackStarted, Cause: fmt.Errorf("%w\nand 2 more", late), Next: "rolling back to revision 3"},
			"Deployment/web is not ready: 0 of 1 ready\nrolling back to revision 3", append(append([]string{}, behind...), "and 2 more"),
		},
		"a hook's log is the message": {
			Event{Type: LogOutput, Diagnosis: Diagnosis{Log: Log{Of: "Job/a", Lines: []string{"one", "two", ""}}}}, "one\ntwo\n", nil,
		},
		"a server's answer stays whole when it is asked again": {
			Event{Type: StepRetried, Message: "busy\ntry later"}, "busy\ntry later", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			message, lines := c.event.Text()
			if diff := cmp.Diff(c.message, message); diff != "" {
				t.Errorf("the message (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.behind, lines); diff != "" {
				t.Errorf("behind it (-want +got):\n%s", diff)
			}
		})
	}
}

// Logs are left out of what is recorded, of each object that is not ready, and nothing
// else is, though it may look like one.
func TestLogsAreLeftOutOfTheRecord(t *testing.T) {
	unready := func(name string) error {
		return &NotReadyError{Object: name, Why: "it crashes", Hook: true, Diagnosis: Diagnosis{
			Reasons: []Reason{{Cause: "BackOff"}}, Log: Log{Of: name, Lines: []string{"password is oops"}},
		}}
	}
	err := fmt.Errorf("stage: %w\nand 2 more", errors.Join(
		fmt.Errorf("hook Job/a: %w", unready("Job/a")), errors.New("| a table is refused"), errors.Join(unready("Job/b"), nil)))
	want := "stage: hook Job/a: it crashes\n  BackOff\n| a table is refused\nit crashes\n  BackOff\nand 2 more"
	if diff := cmp.Diff(want, withoutLogs(err)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := withoutLogs(errors.New("refused")); got != "refused" {
		t.Errorf("an error without a diagnosis says %q", got)
	}
}
