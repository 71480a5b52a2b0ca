// Package e2e has tests only: they run the program, as people get it, on a real
// control plane and beside Helm 3 and Helm 4. They carry the build tag cluster.
// What needs no control plane is in e2e/hostile.
package e2e
