package outputfile

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange swaps two names, see renamex_np(2). Some file systems do not support it.
func exchange(a, b string) error {
	err := unix.RenamexNp(a, b, unix.RENAME_SWAP)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return errors.ErrUnsupported
	}
	return err
}
