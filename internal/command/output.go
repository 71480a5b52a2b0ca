package command

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
)

// descriptor is a stream with a file descriptor: a file, a pipe or a terminal.
type descriptor interface{ Fd() uintptr }

// file is a stream of the operating system that can be examined with Stat.
type file interface{ Stat() (fs.FileInfo, error) }

// output is a standard stream that the program outlives: text to a closed terminal, or to a pipe
// without a reader, is dropped. Other errors, such as a full disk, are returned.
type output struct {
	file     *os.File
	terminal bool
}

// outlived turns a file into an output; it returns other streams unchanged.
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

// outlivePipes makes a write to a broken standard stream fail instead of killing the process in the
// middle of a run, as in "upgrade … | head" or with a tee that received the same Ctrl-C.
// signal.Stop with the returned channel undoes it.
func outlivePipes() chan os.Signal {
	broken := make(chan os.Signal, 1)
	if !signal.Ignored(syscall.SIGPIPE) {
		signal.Notify(broken, syscall.SIGPIPE)
	}
	return broken
}
