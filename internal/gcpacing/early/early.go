// Package early starts gcpacing when it is imported, before most packages are initialized:
// of those that are ready, Go initializes the one first whose import path comes first
// (go.dev/ref/spec#Package_initialization). What packages of k8s.io/ and others make then
// would be collected twice otherwise, which took a quarter of the smallest command's
// processor time.
package early

import "github.com/kubectl-release/kubectl-release/internal/gcpacing"

func init() { gcpacing.Start() }
