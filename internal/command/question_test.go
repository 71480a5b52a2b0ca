package command

import (
	"context"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// asked is a terminal that calls a function as soon as an answer is read from it.
type asked struct {
	*os.File
	then func()
}

func (a asked) Read(into []byte) (int, error) {
	a.then()
	return a.File.Read(into)
}

// The first Ctrl-C ends a question: nothing is done.
func TestASignalEndsAQuestion(t *testing.T) {
	d := atDesk(t)
	d.must("install web ./web")
	isLocked(t, d)
	before := d.writes()
	for _, line := range []string{"apply web ./web --set text=two", "unlock web"} {
		keyboard, terminal, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		ctx, signal := context.WithCancel(t.Context())
		d.in = asked{terminal, signal}
		a := d.typesIn(ctx, line)
		if a.code != exitError || !strings.HasSuffix(a.err, " Type yes: \nError: stopped by a signal; nothing was written\n") {
			t.Errorf("%s: exit code %d\n%s%s", line, a.code, a.out, a.err)
		}
		keyboard.Close()
		terminal.Close()
	}
	if after := d.writes(); after != before {
		t.Errorf("it was written %d times", after-before)
	}
	if a := d.types("unlock web"); !strings.Contains(a.out, "is held by ann") {
		t.Errorf("the lock was freed:\n%s", a.out)
	}
}

// So does it end the question for a passphrase, after which the terminal echoes again.
func TestASignalEndsTheQuestionForAPassphrase(t *testing.T) {
	d := atDesk(t)
	d.file("passphrase", "open sesame\n")
	d.must("plan web ./web --out web.plan --passphrase-file passphrase")
	keyboard, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer keyboard.Close()
	defer terminal.Close()
	echoing := func() *term.State {
		state, err := term.GetState(int(terminal.Fd()))
		if err != nil {
			t.Error(err)
		}
		return state
	}
	before := echoing()
	d.in = terminal
	for _, line := range []string{"apply web.plan", "plan show web.plan"} { // one that writes, one that reads
		ctx, signal := context.WithCancel(t.Context())
		go func() {
			for reflect.DeepEqual(before, echoing()) {
				time.Sleep(time.Millisecond)
			}
			signal()
		}()
		a := d.typesIn(ctx, line)
		if a.code != exitError || !strings.HasPrefix(a.err, "Passphrase of the plan web.plan: \nError: stopped by a signal") {
			t.Errorf("%s: exit code %d\n%s%s", line, a.code, a.out, a.err)
		}
		if !reflect.DeepEqual(before, echoing()) {
			t.Errorf("%s: the terminal does not echo", line)
		}
	}
	d.wroteNothing()
}
