package command

import (
	"testing"

	"github.com/creack/pty"

	"github.com/kubectl-release/kubectl-release/internal/terminal"
)

// With several releases, all are shown in the same region of the terminal.
func TestProgressOfSeveralReleases(t *testing.T) {
	screen, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	defer tty.Close()
	t.Setenv("TERM", "xterm")
	p := newProgram(Streams{Err: terminal.Outlived(tty)}, "")
	first := p.progress().Region
	if second := p.progress().Region; first == nil || second != first {
		t.Errorf("the lines of the first are %v, of the second %v", first, second)
	}
}
