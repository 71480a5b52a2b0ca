package outputfile

import (
	"errors"
	"io/fs"
	"os"
)

// Swap replaces the folder target, which need not exist, with another one in one step:
// whoever looks sees the one or the other. What was at target is then at staged. Both
// have to be on the same file system. Where the system can't exchange names, target is
// missing for a moment.
func Swap(staged, target string) error {
	if _, err := os.Lstat(target); errors.Is(err, fs.ErrNotExist) {
		return os.Rename(staged, target)
	}
	err := exchange(staged, target)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	aside := staged + "-old"
	if err := os.Rename(target, aside); err != nil {
		return err
	}
	if err := os.Rename(staged, target); err != nil {
		return errors.Join(err, os.Rename(aside, target))
	}
	return os.Rename(aside, staged)
}
