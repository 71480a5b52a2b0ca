package apply

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An event's text is what happened and why, whichever fields hold it.
func TestEventText(t *testing.T) {
	late := &NotReadyError{Object: "Deployment/web", Why: "0 of 1 ready", Diagnosis: Diagnosis{
		Reasons: []Reason{{Of: []string{"Pod/web-1"}, Cause: "it crashes"}}, Log: Log{Of: "Pod/web-1, container app", Lines: []string{"oops", ""}},
	}}
	details := []string{"Pod/web-1: it crashes", "| log of Pod/web-1, container app:", "| oops", "| "}
	for name, c := range map[string]struct {
		event   Event
		message string
		details []string
	}{
		"a state has a diagnosis when it lasts": {
			Event{Type: StepProgress, Message: late.Why, Diagnosis: late.Diagnosis}, "0 of 1 ready", details,
		},
		"of a wait that failed the diagnosis is told, not the error": {
			Event{Type: StepFailed, Message: late.Why, Diagnosis: late.Diagnosis, Cause: late}, "0 of 1 ready", details,
		},
		"of other failures the further lines of the error are what is behind it": {
			Event{Type: StepFailed, Message: "patch: refused\n  by policy\nand again"}, "patch: refused", []string{"by policy", "and again"},
		},
		"a rollback says why, and where it leads": {
			Event{Type: RollbackStarted, Cause: errors.Join(&wordedError{err: late, after: "and 2 more"}), Next: "rolling back to revision 3"},
			"Deployment/web is not ready: 0 of 1 ready\nrolling back to revision 3", append(append([]string{}, details...), "and 2 more"),
		},
		"of a hook that failed the reasons are those of the typed error": {
			Event{Type: StepFailed, Message: "as below", Cause: &wordedError{before: "hook Job/a: ", err: &NotReadyError{
				Object: "Job/a", Why: "it has failed:\n  twice", Hook: true, Diagnosis: late.Diagnosis,
			}}},
			"hook Job/a: it has failed:", append([]string{"twice"}, details...),
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
			if diff := cmp.Diff(c.details, lines); diff != "" {
				t.Errorf("details (-want +got):\n%s", diff)
			}
		})
	}
}

// The logs of every object that is not ready are left out of the record, and nothing
// else is, even if it looks like a log.
func TestLogsAreLeftOutOfTheRecord(t *testing.T) {
	unready := func(name string) error {
		return &NotReadyError{Object: name, Why: "it crashes", Hook: true, Diagnosis: Diagnosis{
			Reasons: []Reason{{Cause: "BackOff"}}, Log: Log{Of: name, Lines: []string{"password is oops"}},
		}}
	}
	err := &wordedError{before: "stage: ", after: "and 2 more", err: errors.Join(
		&wordedError{before: "hook Job/a: ", err: unready("Job/a")}, errors.New("| a table is refused"), errors.Join(unready("Job/b"), nil))}
	want := "stage: hook Job/a: it crashes\n  BackOff\n| a table is refused\nit crashes\n  BackOff\nand 2 more"
	if diff := cmp.Diff(want, textOf(linesOf(err, false))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := textOf(linesOf(fmt.Errorf("%w, as its log says: password is oops", unready("Job/a")), false)); got != "it crashes\n  BackOff" {
		t.Errorf("what an error of another room adds is recorded: %q", got)
	}
	if got := textOf(linesOf(errors.New("refused\n  by policy"), false)); got != "refused\n  by policy" {
		t.Errorf("an error without a diagnosis says %q", got)
	}
	whole := err.Error()
	if again := textOf(linesOf(err, true)); again != whole || !strings.Contains(whole, "\n  | password is oops\n") {
		t.Errorf("with logs it says %q and %q", whole, again)
	}
}
