package command

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/redact"
)

// appConf is a file in a Secret. Its lines are too short to be secrets of their own.
const appConf = "listen 8080\nadmin pin 4711 0815\n"

// A secret of several lines is hidden in the logs of hooks and of failing containers, in reasons and in
// errors that quote any of these, as it is and in base64.
func TestLogsHideSecretsOfSeveralLines(t *testing.T) {
	encoded := regexp.MustCompile(".{76}").ReplaceAllString(base64.StdEncoding.EncodeToString([]byte(strings.Repeat(appConf, 3))), "$0\n") + "\n"
	for name, log := range map[string]string{"as it is": appConf, "in base64": encoded} {
		for format, watch := range map[string]func(*program) watcher{
			"text": func(p *program) watcher { return p.progress() },
			"JSON": func(p *program) watcher { return newStream(p, &showFlags{}) },
		} {
			t.Run(name+", "+format, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { observeLogs(t, log, watch) }) })
		}
	}
}

// observeLogs sends everything that may quote a log to an observer.
func observeLogs(t *testing.T, log string, watch func(*program) watcher) {
	var out bytes.Buffer
	p := newProgram(Streams{Out: &out, Err: &out}, "")
	p.mask.Store(redact.NewValuesMask(nil, nil, []byte(appConf), []byte(strings.Repeat(appConf, 3))))
	seen := watch(p)
	job := manifest.ID{Group: "batch", Kind: "Job", Name: "migrate"}
	behind := apply.Diagnosis{
		Reasons: []apply.Reason{{Of: []string{"Pod/migrate-1"}, Cause: "it said:\n" + log}},
		Log:     apply.Log{Of: "Pod/migrate-1", Lines: strings.Split("it begins\n"+log+"it ends", "\n")},
	}
	failure := fmt.Errorf("pre-upgrade hook: %w", &apply.NotReadyError{Object: "Job/migrate", Why: "it failed", Diagnosis: behind})
	for _, e := range []apply.Event{
		{Type: apply.StepStarted},
		{Type: apply.LogOutput, Diagnosis: apply.Diagnosis{Log: behind.Log}},
		{Type: apply.StepProgress, Message: "0 of 1 is done", Diagnosis: behind},
		{Type: apply.StepRetried, Message: "refused: " + log},
		{Type: apply.StepFailed, Message: log, Cause: errors.New(log), Diagnosis: behind},
		{Type: apply.StepFailed, Step: "other", Message: log, Cause: failure},
	} {
		e.Time, e.Object = time.Now(), job
		if e.Step == "" {
			e.Step = "hook"
		}
		seen.Observe(e)
		time.Sleep(time.Second)
	}
	seen.Stop()
	p.tell(failure)
	for line := range strings.SplitSeq(strings.TrimSpace(log), "\n") {
		if strings.Contains(out.String(), line) {
			t.Errorf("%s is shown:\n%s", line, out.String())
			break
		}
	}
	if !strings.Contains(out.String(), "it ends") {
		t.Errorf("the rest of the log is not shown:\n%s", out.String())
	}
}
