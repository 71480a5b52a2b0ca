// Package outputfile writes files as a whole or not at all: whatever ends the program,
// a file has either its old content or all of the new.
//
// It does not know what is in a file, and prints nothing.
package outputfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Prefix is what the names of files that are still being written begin with.
const Prefix = ".kubectl-release-"

// Write replaces a file with one of this mode, as a whole: the content is written to a
// new file beside it, which then takes its name. It is never open to more users than
// the mode says, whatever mode the file had before, and whoever has the old one open
// sees nothing of it. Links are followed, except those that somebody else may have
// planted: see follow. Errors: what exists is not a regular file, or the file system
// refuses.
func Write(file string, data []byte, mode fs.FileMode) error {
	f, err := Create(file, mode)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Commit()
}

// File is a file that is being written. It can be read, too.
type File struct {
	*os.File
	target string
	done   bool
}

// Create begins a file that replaces another one at Commit. Errors are those of Write.
func Create(file string, mode fs.FileMode) (*File, error) {
	target, err := regular(file)
	if err != nil {
		return nil, err
	}
	// CreateTemp makes files of mode 0600.
	f, err := os.CreateTemp(filepath.Dir(target), Prefix+"*")
	if err != nil {
		return nil, err
	}
	out := &File{File: f, target: target}
	if mode.Perm() != 0o600 {
		if err := f.Chmod(mode.Perm()); err != nil {
			out.Discard()
			return nil, err
		}
	}
	return out, nil
}

// Commit puts the file in its place, once.
func (f *File) Commit() error {
	if f.done {
		return errors.New("the file is already complete or abandoned")
	}
	err := f.Sync()
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), f.target)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	f.done = true
	return err
}

// Discard gives the file up. After Commit it does nothing.
func (f *File) Discard() {
	if f.done {
		return
	}
	f.done = true
	_ = f.Close()
	_ = os.Remove(f.Name())
}
