package chartload

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

var errNoGzip = errors.New("it is not a gzipped archive")

// archive reads a chart from a gzipped tar stream. where is its path in warnings, depth the number
// of charts that contain it.
func (l *loader) archive(r io.Reader, where string, depth int) (*chart.Chart, error) {
	files, err := l.unpack(r, where)
	if err != nil {
		return nil, err
	}
	return l.assemble(files, where, depth)
}

// unpack returns the files of an archive in order. Of several files with the same name the last one
// counts, at its own position, but of archives in charts/ the first (Helm 4.3.1,
// pkg/chart/v2/loader/load.go, LoadFiles).
func (l *loader) unpack(r io.Reader, where string) ([]*chart.File, error) {
	tr, err := entries(r)
	if err != nil {
		return nil, err
	}
	var files []*chart.File
	seen := map[string]int{}
	for {
		header, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read archive: %w", err)
		}
		f, err := l.entry(tr, header, where)
		if err != nil {
			return nil, err
		}
		if f == nil {
			continue
		}
		i, again := seen[f.Name]
		if again && path.Dir(f.Name) == "charts" && path.Ext(f.Name) == ".tgz" {
			l.warn(path.Join(where, f.Name), "the archive contains it more than once; the first one is used")
			continue
		}
		if again {
			l.warn(path.Join(where, f.Name), "the archive contains it more than once; the last one is used")
			files[i] = nil
		}
		seen[f.Name] = len(files)
		files = append(files, f)
		l.early(f, where)
	}
	if len(files) == 0 {
		return nil, errors.New("the archive contains no files")
	}
	return compact(files), nil
}

// entries returns a reader of the entries of an archive.
func entries(r io.Reader) (*tar.Reader, error) {
	unzipped, err := gzip.NewReader(bufio.NewReaderSize(r, 1<<16))
	if err != nil {
		return nil, errNoGzip
	}
	return tar.NewReader(&limited{r: unzipped, room: maxStreamBytes}), nil
}

// entry reads one entry of an archive; it returns nil for folders and tar's extended headers.
func (l *loader) entry(tr *tar.Reader, header *tar.Header, where string) (*chart.File, error) {
	if err := l.budget.entry(header.Name, header.Size); err != nil {
		return nil, err
	}
	switch {
	case header.FileInfo().IsDir(),
		header.Typeflag == tar.TypeXGlobalHeader, header.Typeflag == tar.TypeXHeader:
		return nil, nil
	}
	name, err := entryName(header.Name)
	if err != nil {
		return nil, err
	}
	switch header.Typeflag {
	case tar.TypeReg, tar.TypeCont, tar.TypeGNUSparse:
	case tar.TypeSymlink, tar.TypeLink:
		if err := checkLink(header, name); err != nil {
			return nil, err
		}
		l.warn(path.Join(where, name), "it is a link in an archive and is read as an empty file")
	default:
		return nil, fmt.Errorf("%q is a device or another special file, which a chart can't contain", header.Name)
	}
	data := make([]byte, header.Size)
	if _, err := io.ReadFull(tr, data); err != nil {
		return nil, fmt.Errorf("read %s from the archive: %w", name, err)
	}
	return &chart.File{Name: name, Data: withoutBOM(data), ModTime: header.ModTime}, nil
}

// compact removes the nil entries.
func compact(files []*chart.File) []*chart.File {
	out := files[:0]
	for _, f := range files {
		if f != nil {
			out = append(out, f)
		}
	}
	return out
}

// withoutBOM removes the byte order mark, as Helm 4.3.1 does (pkg/chart/loader/archive/archive.go
// and pkg/chart/v2/loader/directory.go).
func withoutBOM(data []byte) []byte {
	return bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
}

// entryName removes the top folder, whatever its name, and refuses names that lead out of it. A
// name with a backslash is taken as a Windows path (Helm 4.3.1,
// pkg/chart/loader/archive/archive.go, LoadArchiveFiles).
func entryName(full string) (string, error) {
	sep := "/"
	if strings.Contains(full, `\`) {
		sep = `\`
	}
	top, rest, _ := strings.Cut(full, sep)
	name := strings.ReplaceAll(rest, sep, "/")
	switch {
	case top == "Chart.yaml":
		return "", fmt.Errorf("%q: the archive must contain one folder, with the chart in it", full)
	case path.IsAbs(full), path.IsAbs(name), isDrivePath(full), isDrivePath(name):
		return "", fmt.Errorf("%q is an absolute path", full)
	}
	name = path.Clean(name)
	switch {
	case name == ".":
		return "", fmt.Errorf("%q is outside of the chart's folder", full)
	case strings.HasPrefix(name, ".."):
		return "", fmt.Errorf("%q leads out of the chart's folder", full)
	case isDrivePath(name):
		return "", fmt.Errorf("%q is an absolute path", full)
	}
	return name, nil
}

// isDrivePath reports whether a name begins with a Windows drive, such as "c:/x".
func isDrivePath(name string) bool {
	return len(name) >= 3 && name[1] == ':' && (name[2] == '/' || name[2] == '\\') &&
		('a' <= name[0]|0x20 && name[0]|0x20 <= 'z')
}

// checkLink returns an error for a link that leads out of the chart.
func checkLink(header *tar.Header, name string) error {
	target := strings.ReplaceAll(header.Linkname, `\`, "/")
	leads := path.IsAbs(target) || isDrivePath(target)
	if header.Typeflag == tar.TypeLink {
		_, err := entryName(target)
		leads = leads || err != nil || strings.HasPrefix(path.Clean(target), "..")
	} else {
		at := path.Join(path.Dir(name), target)
		leads = leads || at == ".." || strings.HasPrefix(at, "../")
	}
	if leads {
		return fmt.Errorf("%q is a link out of the chart, to %q", header.Name, header.Linkname)
	}
	return nil
}
