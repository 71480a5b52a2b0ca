//go:build race

package templating_test

// slowdown is what the race detector costs at most.
const slowdown = 10
