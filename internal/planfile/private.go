package planfile

import (
	"fmt"
	"os"
	"path/filepath"
)

// WritePrivate replaces a file by one with mode 0600, as a whole: the content
// is written to a new file beside it, which then takes its name. It is never
// open to more than its owner, whatever mode the file had before, and whoever
// has the old one open sees nothing of it. Links are followed. Errors: what is
// there is no regular file, or the file system refuses.
func WritePrivate(file string, data []byte) (err error) {
	target, err := regular(file)
	if err != nil {
		return err
	}
	// CreateTemp makes files of mode 0600.
	f, err := os.CreateTemp(filepath.Dir(target), ".kubectl-release-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(data); err != nil {
		_ = f.Close()
		return err
	}
	if err = f.Sync(); err != nil {
		_ = f.Close()
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), target)
}

// regular follows links and refuses devices, pipes and folders: a rename would
// put a file in their place.
func regular(file string) (string, error) {
	if _, err := os.Lstat(file); os.IsNotExist(err) {
		return file, nil
	}
	target, err := filepath.EvalSymlinks(file)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(target)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no regular file", file)
	}
	return target, nil
}
