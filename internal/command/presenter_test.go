package command

import (
	"os"
	"testing"

	"github.com/creack/pty"

	"github.com/kubectl-release/kubectl-release/internal/terminal"
)

// With several releases, all are shown in the same region of the terminal. The streams stay what they are.
func TestProgressOfSeveralReleases(t *testing.T) {
	screen, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	defer tty.Close()
	if err := pty.Setsize(screen, &pty.Winsize{Rows: 24, Cols: 72}); err != nil {
		t.Fatal(err)
	}
	reader, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	defer pipe.Close()
	t.Setenv("TERM", "xterm")
	t.Setenv("COLUMNS", "")
	p := newProgram(Streams{Err: terminal.Outlived(tty)}, "")
	before := p.streams
	first := p.progress().Region
	if second := p.progress().Region; first == nil || second != first {
		t.Errorf("the lines of the first are %v, of the second %v", first, second)
	}
	if p.streams != before {
		t.Error("the streams change while requests may be under way, which write to them that they wait")
	}
	if got := terminal.Width(pipe, p.raw.Err); got != 72 {
		t.Errorf("a plan in a pager has %d columns, want those of the terminal", got)
	}
}
