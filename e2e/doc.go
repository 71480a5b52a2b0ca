// Package e2e contains only tests: they run the program, as users get it, on a real
// control plane and alongside Helm 3 and Helm 4. They have the build tag cluster.
// Tests that need no control plane are in e2e/hostile.
package e2e
