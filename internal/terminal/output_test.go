package terminal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

// What is written to a terminal or a pipe that nobody reads any more is dropped.
func TestOutputOutlivesItsReader(t *testing.T) {
	for name, c := range map[string]struct {
		open func() (reader, writer *os.File, err error)
		want error
	}{
		"a terminal": {pty.Open, syscall.EIO},
		"a pipe":     {os.Pipe, syscall.EPIPE},
	} {
		t.Run(name, func(t *testing.T) {
			reader, writer, err := c.open()
			if err != nil {
				t.Fatal(err)
			}
			defer writer.Close()
			out := Outlived(writer)
			reader.Close()
			if _, err := writer.WriteString("x"); !errors.Is(err, c.want) {
				t.Fatalf("the file itself: %v, want %v", err, c.want)
			}
			if _, err := fmt.Fprintln(out, "progress"); err != nil {
				t.Error(err)
			}
			if _, err := io.WriteString(out, "progress"); err != nil {
				t.Error(err)
			}
		})
	}
}

// A full disk is an error.
func TestOutputOfAFullDisk(t *testing.T) {
	disk, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	if _, err := fmt.Fprintln(Outlived(disk), "record"); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v", err)
	}
}

// Output piped to a pager fits the terminal that the pager is on; a file has none.
func TestWidthBehindAPager(t *testing.T) {
	t.Setenv("COLUMNS", "")
	master, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer terminal.Close()
	if err := pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: 72}); err != nil {
		t.Fatal(err)
	}
	reader, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	defer pipe.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "plan.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for to, want := range map[*os.File]int{terminal: 72, pipe: 72, file: 0} {
		if got := Width(Outlived(to), Outlived(terminal)); got != want {
			t.Errorf("%s: %d columns, want %d", to.Name(), got, want)
		}
	}
	if got := Width(pipe, reader); got != 0 {
		t.Errorf("without a terminal: %d columns", got)
	}
}

// A plan's warnings are in the plan, and also on standard error only where nobody reads both:
// where the plan goes to a file of its own.
func TestWarningsAreReadOnce(t *testing.T) {
	master, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer terminal.Close()
	reader, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	defer pipe.Close()
	own, log := created(t, "plan.txt"), created(t, "log")
	for name, c := range map[string]struct {
		out, err any
		together bool
	}{
		"at a terminal":          {terminal, terminal, true},
		"into a pager":           {pipe, terminal, true},
		"into a log of both":     {log, log, true},
		"into a file of its own": {own, terminal, false},
		"into two files":         {own, log, false},
		"beside a log":           {own, pipe, false},
		"into memory":            {new(bytes.Buffer), terminal, false},
	} {
		if got := ReadTogether(c.out, c.err); got != c.together {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// created returns an empty file of that name in a folder of its own.
func created(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}
