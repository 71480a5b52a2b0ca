package controlplane

import "syscall"

// childAttributes puts a part into a process group of its own, so that Ctrl-C
// reaches only the starter, and lets the kernel kill it with its starter.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
