package terminal

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
)

// output is a file that the program outlives; see Outlived.
type output struct {
	file     *os.File
	terminal bool
}

// Outlived turns a file into a stream that the program outlives: text to a closed terminal, or to a pipe
// without a reader, is dropped. Other errors, such as a full disk, are returned. Other streams stay as they are.
func Outlived(stream io.Writer) io.Writer {
	if f, ok := stream.(*os.File); ok {
		return output{file: f, terminal: Is(f)}
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

// OutlivePipes makes a write to a broken standard stream fail instead of killing the process in the
// middle of a run, as in "upgrade … | head" or with a tee that received the same Ctrl-C.
// signal.Stop with the returned channel undoes it.
func OutlivePipes() chan os.Signal {
	broken := make(chan os.Signal, 1)
	if !signal.Ignored(syscall.SIGPIPE) {
		signal.Notify(broken, syscall.SIGPIPE)
	}
	return broken
}
