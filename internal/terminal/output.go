package terminal

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// output is a file that the program outlives; see Outlived.
type output struct {
	file     *os.File
	terminal bool
	mu       sync.Mutex
	failed   error
}

// Outlived turns a file into a stream that the program outlives: text to a closed terminal, or to a pipe
// without a reader, is dropped. Other errors, such as a full disk, are returned, and remembered for Failed. Other
// streams stay as they are.
func Outlived(stream io.Writer) io.Writer {
	if f, ok := stream.(*os.File); ok {
		return &output{file: f, terminal: Is(f)}
	}
	return stream
}

// Write implements io.Writer.
func (o *output) Write(text []byte) (int, error) {
	if len(text) == 0 {
		return 0, nil // nothing is missing, even if the file is closed
	}
	n, err := o.file.Write(text)
	if errors.Is(err, syscall.EPIPE) || o.terminal && errors.Is(err, syscall.EIO) {
		return len(text), nil
	}
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.failed = err
	}
	return n, err
}

// Failed returns why something could not be written to a stream that Outlived has returned, nil if everything
// could. Whoever prints need not look at each error.
func Failed(stream io.Writer) error {
	o, ok := stream.(*output)
	if !ok {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failed
}

// Fd implements descriptor.
func (o *output) Fd() uintptr { return o.file.Fd() }

// Stat implements file.
func (o *output) Stat() (fs.FileInfo, error) { return o.file.Stat() }

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
