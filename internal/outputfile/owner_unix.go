//go:build unix

package outputfile

import (
	"os"
	"syscall"
)

// owner returns the ID of the user who owns a file.
func owner(info os.FileInfo) (id int, known bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}
