//go:build !linux

package gcpacing

// useHugePages does nothing: only Linux is asked for huge pages.
func useHugePages() {}
