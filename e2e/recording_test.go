//go:build cluster

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
)

const recordingIntro = `# An atomic upgrade that fails

This is what a terminal shows when the pods of a new version crash. It is recorded by
` + "`TestRecordingOfAnAtomicFailure`" + `, which runs the real program on a real control plane and
compares; ` + "`-update`" + ` records it anew. Names of pods, times and the cluster's address are
made equal.

Where no revision has succeeded before, a failed install is uninstalled, and a failed upgrade is not
rolled back: what is there may be in use. The plan says "nothing is rolled back", and the exit code
is 1.

`

// What somebody sees at three in the morning, from the plan to the final state of the
// release, is what docs/atomic-failure.md shows.
func TestRecordingOfAnAtomicFailure(t *testing.T) {
	s := newShop(t)
	folder := t.TempDir()
	chart := filepath.Join(folder, "web")
	if err := os.CopyFS(chart, os.DirFS(webChart())); err != nil {
		t.Fatal(err)
	}
	values := "image: shop/web:2.0\ngreeting: moin\nbehave: crash # what the test's control plane does with the pods\n"
	if err := os.WriteFile(filepath.Join(folder, "v2.yaml"), []byte(values), 0o600); err != nil {
		t.Fatal(err)
	}
	s.must("install", "web", chart, "--wait")
	config := filepath.Join(folder, "kubeconfig")
	raw, err := os.ReadFile(cluster.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	cluster.Kubectl(t, "--kubeconfig", config, "config", "set-context", "--current", "--namespace", s.namespace)

	r := recorder{T: t, folder: folder, config: config}
	upgrade, code := r.run("apply", "web", "./web", "-f", "v2.yaml", "--atomic", "--timeout", "20s", "--yes")
	if code != 5 {
		t.Errorf("exit code %d, want 5\n%s", code, upgrade)
	}
	status, _ := r.run("status", "web")
	history, _ := r.run("history", "web")
	text := recordingIntro + "```console\n" + upgrade + fmt.Sprintf("$ echo $?\n%d\n", code) + status + history + "```\n\n" +
		"While it waits, each object that is not ready yet has a line at the bottom, drawn anew in\nplace:\n\n```text\n" + r.waiting + "```\n"
	text = equalized(text, s.namespace)

	file := inTree("docs", "atomic-failure.md")
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(text, "\n")); diff != "" {
		t.Errorf("%s is no longer what is seen (-update records it anew):\n%s", file, diff)
	}
}

// recorder runs the program on a terminal of its own.
type recorder struct {
	*testing.T
	folder, config string
	// waiting is the last line that was shown during a wait.
	waiting string
}

var underWay = regexp.MustCompile(`(?m)^    Deployment/web: .*, \d+s; .*\n`)

// run returns the command and what is on the terminal in the end, and the exit
// code.
func (r *recorder) run(args ...string) (string, int) {
	r.Helper()
	c := shop{T: r.T}.program()
	c.Args = append([]string{"kubectl-release"}, args...)
	c.Dir = r.folder
	c.Env = append(c.Env, "KUBECONFIG="+r.config, "TERM=xterm", "NO_COLOR=1", "TZ=UTC")
	c.Args[0] = c.Path // as kubectl calls its plugins
	terminal, err := pty.StartWithSize(c, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		r.Fatal(err)
	}
	defer terminal.Close()
	var seen screen
	buffer := make([]byte, 64<<10)
	for {
		n, err := terminal.Read(buffer) // fails when the program has ended
		seen.write(string(buffer[:n]))
		if found := underWay.FindString(seen.String()); found != "" {
			r.waiting = found
		}
		if err != nil {
			break
		}
	}
	_ = c.Wait()
	return "$ kubectl release " + strings.Join(args, " ") + "\n" + seen.String(), c.ProcessState.ExitCode()
}

var equalizers = []struct {
	what *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`\bweb-[0-9a-f]{8,10}-[a-z0-9]{5}\b`), "web-6d9f7c5b48-x7k2p"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC`), "2026-03-14 03:07:00 +0000 UTC"},
	{regexp.MustCompile(`[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}`), "Sat Mar 14 03:07:00 2026"},
	{regexp.MustCompile(`context testcluster`), "context prod"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "prod.example.com"},
	{regexp.MustCompile(`after (a restart|\d+ restarts)`), "after 3 restarts"},
	{regexp.MustCompile(`, \d+s; `), ", 3s; "},
	{regexp.MustCompile(`CrashLoopBackOf?…`), "CrashLoopBackOf…"}, // two digits of seconds leave less room for it
	{regexp.MustCompile(`(?m)^.*: done after [\d.]+s\n`), ""},     // only printed on a slow machine
}

func equalized(text, namespace string) string {
	text = strings.ReplaceAll(text, namespace, "shop")
	for _, e := range equalizers {
		text = e.what.ReplaceAllString(text, e.by)
	}
	return regexp.MustCompile(`(?m) +$`).ReplaceAllString(text, "")
}

// screen is a terminal of unlimited size that knows the control sequences that our program sends.
type screen struct {
	rows [][]rune
	x, y int
	rest string
}

var control = regexp.MustCompile(`^\x1b\[(\d*)([A-Za-z])`)

func (s *screen) write(text string) {
	text = s.rest + text
	s.rest = ""
	for text != "" {
		if strings.HasPrefix(text, "\x1b") {
			found := control.FindStringSubmatch(text)
			if found == nil {
				s.rest = text // the other half is still to come
				return
			}
			s.control(found[2], found[1])
			text = text[len(found[0]):]
			continue
		}
		if !utf8.FullRuneInString(text) {
			s.rest = text
			return
		}
		c, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		s.put(c)
	}
}

func (s *screen) control(letter, number string) {
	n := 1
	_, _ = fmt.Sscan(number, &n)
	switch letter {
	case "A":
		s.y = max(0, s.y-n)
	case "J":
		s.rows = s.rows[:min(s.y, len(s.rows))]
	}
}

func (s *screen) put(c rune) {
	switch c {
	case '\r':
		s.x = 0
		return
	case '\n':
		s.y++
		return
	}
	for len(s.rows) <= s.y {
		s.rows = append(s.rows, nil)
	}
	for len(s.rows[s.y]) <= s.x {
		s.rows[s.y] = append(s.rows[s.y], ' ')
	}
	s.rows[s.y][s.x] = c
	s.x++
}

func (s *screen) String() string {
	var out strings.Builder
	for _, row := range s.rows {
		out.WriteString(strings.TrimRight(string(row), " ") + "\n")
	}
	return out.String()
}
