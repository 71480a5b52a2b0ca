// Package inputfile reads files that people name and others may have written: no
// more of them than is sensible, and none through a link that somebody else has
// planted to have another file read.
//
// It does not know what is in a file, and prints nothing.
package inputfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// MaxBytes is the largest size of a file that a flag or an argument names.
const MaxBytes = 32 << 20

// StandardInput is the name that stands for standard input on the command line.
const StandardInput = "-"

// Read reads a file, device or pipe of at most that many bytes. Links are followed.
// Errors are those of the file system, and *TooLargeError.
func Read(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, name, most)
}

// ReadInside is Read for a file that came with others, as in a Git checkout. A link
// is read only if CheckLink allows it.
func ReadInside(name string, most int64) ([]byte, error) {
	folder, target, err := place(name)
	if err != nil {
		return nil, err
	}
	if target == "" {
		return Read(name, most)
	}
	f, err := OpenInside(folder, target)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, name, most)
}

// CheckLink refuses a link that leads out of the folder in which it lies, or to
// something hidden there, with an *OutsideError. Links of mounted ConfigMaps stay
// in their folder, and what is below /dev and /proc belongs to the system:
// /dev/stdin leads to whatever the shell has opened. What is not a link, or does
// not exist, passes.
func CheckLink(name string) error {
	_, _, err := place(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// place returns where a link that CheckLink allows leads to, and the folder in
// which that has to be. target is "" for what is not a link, or is the system's.
func place(name string) (folder, target string, err error) {
	name = filepath.Clean(name) // a separator at the end would follow it
	info, err := os.Lstat(name)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 || ofSystem(name) {
		return "", "", err
	}
	if folder, err = filepath.EvalSymlinks(filepath.Dir(name)); err != nil {
		return "", "", err
	}
	target, err = Target(folder, name)
	return folder, target, err
}

// Target returns the file that a link leads to, with all links resolved. The error
// is an *OutsideError when that file does not lie below folder, which must have no
// links in its path, or is hidden there, as .git and .env are.
func Target(folder, link string) (string, error) {
	target, err := filepath.EvalSymlinks(link)
	if err != nil {
		return "", err
	}
	if target, err = filepath.Abs(target); err != nil {
		return "", err
	}
	part, err := within(folder, target)
	if err != nil || part == "." || !filepath.IsLocal(part) || hidden(part) {
		return "", &OutsideError{Link: link, Target: target}
	}
	return target, nil
}

// OpenInside opens what Target has returned, or another file that was found below
// the folder. Even if it has been replaced since, no link leads out of the folder.
func OpenInside(folder, target string) (*os.File, error) {
	part, err := within(folder, target)
	if err != nil {
		return nil, err
	}
	return os.OpenInRoot(folder, part)
}

// within is filepath.Rel; either path may be relative to the working directory.
func within(folder, target string) (string, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	if target, err = filepath.Abs(target); err != nil {
		return "", err
	}
	return filepath.Rel(folder, target)
}

// hidden reports whether a path has a part such as .git. Parts that begin with two
// dots do not count: Kubernetes mounts a ConfigMap's files below ..data.
func hidden(path string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if len(part) > 1 && part[0] == '.' && part[1] != '.' {
			return true
		}
	}
	return false
}

// ofSystem reports whether a path is one such as /dev/stdin or /dev/fd/63, which
// are links to whatever the shell has opened.
func ofSystem(name string) bool {
	clean := filepath.ToSlash(filepath.Clean(name))
	return strings.HasPrefix(clean, "/dev/") || strings.HasPrefix(clean, "/proc/")
}

// ReadAll reads all there is; more than that many bytes are a *TooLargeError with name.
func ReadAll(r io.Reader, name string, most int64) ([]byte, error) {
	// io.ReadAll would also assemble what then turns out too large: twice as much memory.
	var parts [][]byte
	total, part := int64(0), make([]byte, 0, 512)
	for {
		if len(part) == cap(part) {
			parts, part = append(parts, part), make([]byte, 0, min(2*cap(part), 1<<20))
		}
		n, err := r.Read(part[len(part):cap(part)])
		part, total = part[:len(part)+n], total+int64(n)
		switch {
		case total > most:
			return nil, &TooLargeError{Name: name, Most: most}
		case err == io.EOF:
			out := make([]byte, 0, total)
			for _, p := range append(parts, part) {
				out = append(out, p...)
			}
			return out, nil
		case err != nil:
			return nil, err
		}
	}
}

// OutsideError is returned for a link that leads out of the folder where it has to
// stay, or to a hidden file.
type OutsideError struct{ Link, Target string }

func (e *OutsideError) Error() string {
	return fmt.Sprintf("%s is a link to %s, which is outside of its folder or hidden there", e.Link, e.Target)
}

// TooLargeError is returned for a file that has more than Most bytes.
type TooLargeError struct {
	Name string
	Most int64
}

func (e *TooLargeError) Error() string {
	if e.Most < 1<<20 {
		return fmt.Sprintf("%s is larger than %d KiB", e.Name, e.Most>>10)
	}
	return fmt.Sprintf("%s is larger than %d MiB", e.Name, e.Most>>20)
}
