package command

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
)

// descriptor is a stream of the operating system's: a file, a pipe or a terminal.
type descriptor interface{ Fd() uintptr }

// file is a stream of the operating system's that tells what it is.
type file interface{ Stat() (fs.FileInfo, error) }

// output is a standard stream that the program outlives: what is written to a
// terminal that has closed, or to a pipe that nobody reads any more, is dropped.
// Other errors, such as a full disk, remain errors.
type output struct {
	file     *os.File
	terminal bool
}

// outlived makes an output of a file; other streams stay what they are.
func outlived(stream io.Writer) io.Writer {
	if f, ok := stream.(*os.File); ok {
		return output{file: f, terminal: isTerminal(f)}
	}
	return stream
}

// Write implements io.Writer.
func (o output) Write(text []byte) (int, error) {
	n, err := o.file.Write(text)
	if errors.Is(err, syscall.EPIPE) || o.terminal && errors.Is(err, syscall.EIO) {
		return len(text), nil
	}
	return n, err
}

// Fd implements descriptor.
func (o output) Fd() uintptr { return o.file.Fd() }

// Stat implements file.
func (o output) Stat() (fs.FileInfo, error) { return o.file.Stat() }

// outlivePipes has a write to a broken standard stream fail instead of ending the
// process in the middle of a run, as in "upgrade … | head" or with a tee that got
// the same Ctrl-C. signal.Stop with what it returns takes it back.
func outlivePipes() chan os.Signal {
	broken := make(chan os.Signal, 1)
	if !signal.Ignored(syscall.SIGPIPE) {
		signal.Notify(broken, syscall.SIGPIPE)
	}
	return broken
}
