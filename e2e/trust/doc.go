// Package trust is the suite behind docs/trust.md: releases must survive kills,
// faults, crowds and Helm's own writes, on a real control plane, with the program
// as users get it and with Helm 3 and Helm 4 alongside.
//
// It contains only tests, with the build tag cluster. Without flags each sweep runs
// as a sample; -soak runs it in full, and -update then writes the result into
// docs/trust.md (make soak).
package trust
