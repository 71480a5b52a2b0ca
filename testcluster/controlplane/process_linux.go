package controlplane

import "syscall"

// childAttributes puts a part into a process group of its own, so Ctrl-C reaches
// only the starter, and makes the kernel kill it when its starter dies.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// niceness of the control plane, below that of the tests: beside many busy ones, an API server of
// the same niceness can answer so late that locks expire before they are renewed.
const niceness = -10

// prioritize sets the niceness of all threads of a part, where that is permitted (root).
func prioritize(pid int) {
	_ = syscall.Setpriority(syscall.PRIO_PGRP, pid, niceness)
}
