package command

import (
	"bytes"
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// silent is a transport to a server that accepts connections and does not answer.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

// TestWaiting: while an API server does not answer, what is being waited for is said after ten seconds and then at
// growing intervals, on standard error or, with events, as one of them.
func TestWaiting(t *testing.T) {
	atDesk(t)
	const first = "waiting for the API server at https://silent.example: no answer for 10s"
	for line, events := range map[string]bool{
		"status web": false, "history web": false, "list": false, "get values web": false, "plan web ./web": false,
		"plan web ./web -o json": false, "uninstall web": false, "install web ./web": false, "install web ./web -o json": true,
		"uninstall web -o json": true,
	} {
		t.Run(line, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out, errs bytes.Buffer
				p := newProgram(Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, "kubectl release")
				p.transport = func(http.RoundTripper) http.RoundTripper { return silent{} }
				code := p.main(t.Context(), nil, append([]string{"kubectl-release", "--server", "https://silent.example"}, strings.Fields(line)...))
				at, want := errs.String(), "• "+first+"\n"
				if events {
					at, want = out.String(), `"type":"note"`
				}
				if said := strings.Count(at, "no answer for "); code != exitError || !strings.Contains(at, want) || !strings.Contains(at, first) || said < 4 || said > 5 {
					t.Errorf("exit code %d, said %d times, %s\n%s", code, said, out.String(), errs.String())
				}
				if events && strings.Contains(errs.String(), "waiting") {
					t.Errorf("it is said twice: %s", errs.String())
				}
			})
		})
	}
}

// A second signal at once leaves; of a command that writes nothing to a cluster there is nothing to say but that.
func TestTwoSignalsAtOnce(t *testing.T) {
	atDesk(t)
	for line, want := range map[string]string{
		"lint ./web --validate": "stopped at once",
		"plan web ./web":        "stopped at once",
		"install web ./web":     "stopped at once; no revision was recorded",
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			leave := make(chan struct{})
			time.AfterFunc(time.Second, func() { close(leave) })
			var errs bytes.Buffer
			p := newProgram(Streams{In: strings.NewReader(""), Out: &errs, Err: &errs}, "kubectl release")
			p.transport = func(http.RoundTripper) http.RoundTripper { return silent{} }
			code := p.main(ctx, leave, append([]string{"kubectl-release", "--server", "https://silent.example"}, strings.Fields(line)...))
			if code != exitLeft || errs.String() != "Error: "+want+"\n" {
				t.Errorf("%s: exit code %d, %s", line, code, errs.String())
			}
		})
	}
}

// A signal ends what waits for an API server, and the error says that nothing was written.
func TestSignalWhileNothingIsAnswered(t *testing.T) {
	atDesk(t)
	for _, line := range []string{"install web ./web", "uninstall web", "rollback web", "test web", "unlock web --yes", "apply web ./web --yes"} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, stop)
			var errs bytes.Buffer
			p := newProgram(Streams{In: strings.NewReader(""), Out: &errs, Err: &errs}, "kubectl release")
			p.transport = func(http.RoundTripper) http.RoundTripper { return silent{} }
			code := p.main(ctx, nil, append([]string{"kubectl-release", "--server", "https://silent.example"}, strings.Fields(line)...))
			if code != exitError || errs.String() != "Error: stopped by a signal; nothing was written\n" {
				t.Errorf("%s: exit code %d, %s", line, code, errs.String())
			}
		})
	}
}

// stalled is the writer of a reader that no longer reads.
type stalled struct {
	first         sync.Once
	reached, over chan struct{}
}

func (s *stalled) Write(p []byte) (int, error) {
	s.first.Do(func() { close(s.reached) })
	<-s.over
	return len(p), nil
}

// A second signal at once leaves even if nobody reads the events.
func TestTwoSignalsWhileNobodyReads(t *testing.T) {
	atDesk(t)
	out := &stalled{reached: make(chan struct{}), over: make(chan struct{})}
	defer close(out.over)
	var errs bytes.Buffer
	p := newProgram(Streams{In: strings.NewReader(""), Out: out, Err: &errs}, "kubectl release")
	code := p.main(t.Context(), out.reached, strings.Fields("kubectl-release install web ./web -o json"))
	if code != exitLeft || !strings.HasSuffix(errs.String(), "Error: stopped at once; no revision was recorded\n") {
		t.Errorf("exit code %d, %s", code, errs.String())
	}
}

// A signal that ends the plan of a set leaves no temporary files.
func TestASignalLeavesNoTemporaryFiles(t *testing.T) {
	d, temporary := atDesk(t), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	d.file("set.yaml", "version: 1\nreleases:\n- {name: web, namespace: shop, chart: ./web}\n")
	ctx, stop := context.WithCancel(t.Context())
	var out bytes.Buffer
	p := newProgram(Streams{In: strings.NewReader(""), Out: &out, Err: &out}, "kubectl release")
	p.dial = func(*connectionFlags) (api, string, error) {
		if found, err := filepath.Glob(filepath.Join(temporary, "kubectl-release-*")); len(found) == 0 || err != nil {
			t.Errorf("there are %q, %v", found, err)
		}
		stop()
		return memory{d.Cluster, d.client}, "shop", nil
	}
	code := p.main(ctx, nil, strings.Fields("kubectl-release plan many set.yaml --base-dir /dev/null"))
	if found, err := filepath.Glob(filepath.Join(temporary, "kubectl-release-*")); code != exitError || len(found) > 0 || err != nil {
		t.Errorf("exit code %d, left are %q, %v\n%s", code, found, err, &out)
	}
}
