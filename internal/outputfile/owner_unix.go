//go:build unix

package outputfile

import (
	"os"
	"syscall"
)

// owner is the ID of the user to whom a file belongs.
func owner(info os.FileInfo) (id int, known bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}
