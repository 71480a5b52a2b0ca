package main

import (
	"fmt"
	"os"
	"syscall"
)

// lock waits until no other build holds the lock on file, takes it, and returns the
// function that releases it. The kernel also releases it when this process dies.
func lock(file string) (unlock func(), err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the lock of builds: %w", err)
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		fmt.Fprintln(os.Stderr, "waiting for another build")
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
			return nil, fmt.Errorf("lock builds: %w", err)
		}
	}
	return func() { _ = f.Close() }, nil
}
