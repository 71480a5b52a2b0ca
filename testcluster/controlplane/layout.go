package controlplane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	folderPrefix   = "testcluster-"
	unlockedPrefix = "testcluster.unlocked-"
)

// layout is the folder in which one running cluster keeps everything: keys,
// kubeconfigs, logs and etcd's data.
type layout struct {
	dir  string
	lock *os.File
}

// newLayout creates the folder and locks it for as long as this process lives, so
// others can tell a running cluster from one that was killed. The folder gets its
// final name only when it is locked: before, it would be taken for an orphan.
func newLayout() (layout, error) {
	unlocked, err := os.MkdirTemp("", unlockedPrefix)
	if err != nil {
		return layout{}, fmt.Errorf("make a folder for the cluster: %w", err)
	}
	lock, err := os.Create(filepath.Join(unlocked, "lock"))
	if err != nil {
		return layout{}, fmt.Errorf("create the lock of %s: %w", unlocked, err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return layout{}, fmt.Errorf("lock %s: %w", unlocked, err)
	}
	suffix := strings.TrimPrefix(filepath.Base(unlocked), unlockedPrefix)
	dir := filepath.Join(filepath.Dir(unlocked), folderPrefix+suffix)
	if err := os.Rename(unlocked, dir); err != nil {
		return layout{}, fmt.Errorf("name the folder of the cluster: %w", err)
	}
	return layout{dir: dir, lock: lock}, nil
}

func (l layout) file(name string) string { return filepath.Join(l.dir, name) }

// remove deletes the folder, or only its lock if its data is kept.
func (l layout) remove(keep bool) error {
	victim := l.dir
	if keep {
		victim = l.file("lock")
	}
	return errors.Join(os.RemoveAll(victim), l.lock.Close())
}

// removeOrphans deletes the folders of clusters whose starter was killed. A
// folder without a lock was kept on purpose.
func removeOrphans() error {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), folderPrefix+"*"))
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
