//go:build unix && !linux

package controlplane

import "syscall"

// childAttributes puts a part into a process group of its own, so that Ctrl-C
// reaches only the starter. That the starter died is told by the lifeline.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
