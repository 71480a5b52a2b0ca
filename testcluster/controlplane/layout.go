package controlplane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const folderPattern = "testcluster-"

// layout is the folder in which one running cluster keeps everything: keys,
// kubeconfigs, logs and etcd's data.
type layout struct {
	dir  string
	lock *os.File
}

// newLayout makes the folder and locks it for as long as this process lives,
// so that others can tell a cluster that runs from one that was killed.
func newLayout() (layout, error) {
	dir, err := os.MkdirTemp("", folderPattern)
	if err != nil {
		return layout{}, fmt.Errorf("make a folder for the cluster: %w", err)
	}
	l := layout{dir: dir}
	l.lock, err = os.Create(l.file("lock"))
	if err != nil {
		return layout{}, fmt.Errorf("create the lock of %s: %w", dir, err)
	}
	if err := unix.Flock(int(l.lock.Fd()), unix.LOCK_EX); err != nil {
		return layout{}, fmt.Errorf("lock %s: %w", dir, err)
	}
	return l, nil
}

func (l layout) file(name string) string { return filepath.Join(l.dir, name) }

// remove deletes the folder, or only unlocks it when its data is wanted.
func (l layout) remove(keep bool) error {
	var errs []error
	if !keep {
		errs = append(errs, os.RemoveAll(l.dir))
	}
	return errors.Join(append(errs, l.lock.Close())...)
}

// removeOrphans deletes the folders of clusters whose starter was killed. A
// folder without a lock was kept on purpose, or is being made this moment.
func removeOrphans() error {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), folderPattern+"*"))
	if err != nil {
		return fmt.Errorf("list folders of earlier clusters: %w", err)
	}
	var errs []error
	for _, dir := range dirs {
		errs = append(errs, removeOrphan(dir))
	}
	return errors.Join(errs...)
}

func removeOrphan(dir string) error {
	lock, err := os.Open(filepath.Join(dir, "lock"))
	if err != nil {
		return nil
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove the folder of an earlier cluster: %w", err)
	}
	return nil
}
