package controlplane

import "syscall"

// childAttributes puts a part into a process group of its own, so Ctrl-C reaches
// only the starter, and makes the kernel kill it when its starter dies.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
