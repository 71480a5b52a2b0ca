package terminal

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"

	"github.com/kubectl-release/kubectl-release/internal/textwidth"
)

// Region is the bottom of a terminal: a few lines that are redrawn in place while other output
// scrolls past above them. It moves the cursor and uses no colour.
type Region struct {
	mu sync.Mutex
	to io.Writer
	// size returns the terminal's size.
	size func() (columns, rows int)
	// lines are the lines to show; drawn is how many of them are on the screen.
	lines []string
	drawn int
}

// NewRegion returns the region of a terminal with the given size.
func NewRegion(to io.Writer, size func() (columns, rows int)) *Region {
	return &Region{to: to, size: size}
}

// RegionOf returns the region of a stream, or nil if the stream is not a terminal or is a dumb one.
func RegionOf(stream io.Writer) *Region {
	f, ok := stream.(descriptor)
	if !ok || !Is(stream) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return NewRegion(stream, func() (int, int) {
		columns, rows, err := term.GetSize(int(f.Fd()))
		if err != nil || columns <= 0 || rows <= 0 {
			return 80, 24
		}
		return columns, rows
	})
}

// Write implements io.Writer: the text appears above the lines and stays.
func (r *Region) Write(text []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out bytes.Buffer
	r.erase(&out)
	out.Write(text)
	if bytes.HasSuffix(text, []byte("\n")) {
		r.draw(&out)
	}
	if _, err := r.to.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Show replaces the lines.
func (r *Region) Show(lines []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(lines) == 0 && r.drawn == 0 {
		r.lines = nil
		return
	}
	r.lines = lines
	var out bytes.Buffer
	r.erase(&out)
	r.draw(&out)
	_, _ = r.to.Write(out.Bytes())
}

func (r *Region) erase(out *bytes.Buffer) {
	if r.drawn > 0 {
		fmt.Fprintf(out, "\x1b[%dA\r\x1b[J", r.drawn)
	}
	r.drawn = 0
}

// draw prints as many lines as fit, none of them wrapped.
func (r *Region) draw(out *bytes.Buffer) {
	columns, rows := r.size()
	lines := r.lines
	const most = 12
	if room := max(1, min(most, rows-2)); len(lines) > room {
		rest := len(lines) - room + 1
		lines = append(lines[:room-1:room-1], fmt.Sprintf("    … and %d more", rest))
	}
	for _, line := range lines {
		out.WriteString(textwidth.Cut(line, max(1, columns-1)))
		out.WriteByte('\n')
	}
	r.drawn = len(lines)
}
