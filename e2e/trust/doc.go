// Package trust is the suite behind docs/trust.md: what has to survive kills,
// faults, crowds and the hands of Helm, on a real control plane, with the program
// as people get it and with Helm 3 and Helm 4 beside it.
//
// It has tests only, behind the build tag cluster. Without flags each sweep runs
// as a sample; -soak runs it whole, and -update then writes the result into
// docs/trust.md (make soak).
package trust
