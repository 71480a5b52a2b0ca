// Package terminal knows what is at the other end of a stream: a terminal, a pager, the log of a CI job,
// a file, or nobody any more. It says how wide a terminal is, redraws its last lines, and removes from
// text what would harm it.
//
// It does not know what is printed, asks no questions, and decides nothing by itself: whoever prints
// chooses the stream.
package terminal

import (
	"io"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/term"
)

// descriptor is a stream with a file descriptor: a file, a pipe or a terminal.
type descriptor interface{ Fd() uintptr }

// file is a stream of the operating system that can be examined with Stat.
type file interface{ Stat() (fs.FileInfo, error) }

// Is reports whether a stream is a terminal.
func Is(stream any) bool {
	f, ok := stream.(descriptor)
	return ok && term.IsTerminal(int(f.Fd()))
}

// HasColors reports whether colours may be printed on a stream: it is a terminal that has them, and
// NO_COLOR is not set (https://no-color.org).
func HasColors(stream any) bool {
	return Is(stream) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// Width returns COLUMNS, or the width of the terminal w; if w is a pipe, for example to less,
// that of standard error. 0 leaves it to the printer.
func Width(w, stderr io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if f, ok := w.(file); ok {
		if about, err := f.Stat(); err == nil && about.Mode()&fs.ModeNamedPipe != 0 {
			w = stderr
		}
	}
	if f, ok := w.(descriptor); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			return columns
		}
	}
	return 0
}

// ReadTogether reports whether both streams have the same reader: a terminal, the log of a CI job
// or a pager. It is false if the first stream goes to a file of its own, as with "> plan.txt".
func ReadTogether(out, err any) bool {
	from, ok := out.(file)
	if !ok {
		return false
	}
	there, failed := from.Stat()
	if failed != nil {
		return false
	}
	if Is(out) || there.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0 {
		return true
	}
	beside, ok := err.(file)
	if !ok {
		return false
	}
	same, failed := beside.Stat()
	return failed == nil && there.Mode().IsRegular() && os.SameFile(there, same)
}
