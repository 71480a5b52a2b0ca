//go:build unix && !linux

package controlplane

import "syscall"

// childAttributes puts a part into a process group of its own, so Ctrl-C reaches
// only the starter. The lifeline shows when the starter has died.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// prioritize does nothing; only Linux sets the niceness of all threads of a process at once.
func prioritize(int) {}
