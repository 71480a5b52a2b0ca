package controlplane

import "syscall"

// childAttributes puts a part into a process group of its own, so Ctrl-C reaches
// only the starter, and makes the kernel kill it when its starter dies.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// niceness is that of the parts: an API server that waits for a processor as long as each of
// many busy tests lets locks expire, because it answers no renewal in time.
const niceness = -10

// prioritize lowers the niceness of a part, all of its threads, where that is permitted (root).
func prioritize(pid int) {
	_ = syscall.Setpriority(syscall.PRIO_PGRP, pid, niceness)
}
