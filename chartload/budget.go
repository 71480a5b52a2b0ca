package chartload

import (
	"fmt"
	"io"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// budget is what the rest of a chart may still use. A chart shares one budget with all its
// subcharts.
type budget struct {
	bytes       int64
	entries     int
	yamlEntries int
	yamlBytes   int
}

func newBudget() *budget {
	return &budget{bytes: maxTotalBytes, entries: maxEntries, yamlEntries: maxYAMLEntries, yamlBytes: maxYAMLBytes}
}

// entry counts one file or folder of the given size, before it is read.
func (b *budget) entry(name string, size int64) error {
	if b.entries--; b.entries < 0 {
		return fmt.Errorf("%q: the chart has more than %d files", name, maxEntries)
	}
	if size < 0 || size > maxEntryBytes {
		return fmt.Errorf("%q: its size of %d bytes exceeds the limit of %d for one file", name, size, maxEntryBytes)
	}
	if b.bytes -= size; b.bytes < 0 {
		return fmt.Errorf("%q: the chart unpacks to more than %d bytes", name, maxTotalBytes)
	}
	return nil
}

// yaml counts a YAML file before it is parsed.
func (b *budget) yaml(data []byte) error {
	if b.yamlEntries -= manifest.Entries(data); b.yamlEntries < 0 {
		return fmt.Errorf("the YAML of the chart and its subcharts has more than %d entries", maxYAMLEntries)
	}
	if b.yamlBytes -= len(data); b.yamlBytes < 0 {
		return fmt.Errorf("the YAML of the chart and its subcharts is larger than %d MiB in total", maxYAMLBytes>>20)
	}
	return nil
}

// limited ends a stream with an error, not with EOF, once room bytes have been read.
type limited struct {
	r    io.Reader
	room int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.room <= 0 {
		return 0, fmt.Errorf("the archive unpacks to more than %d bytes", maxStreamBytes)
	}
	if int64(len(p)) > l.room {
		p = p[:l.room]
	}
	n, err := l.r.Read(p)
	l.room -= int64(n)
	return n, err
}
