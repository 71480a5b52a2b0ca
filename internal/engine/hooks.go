package engine

import (
	"fmt"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// hookObjects parses the objects of each of a revision's hooks. Of a hook that can't be parsed there are
// none; see checkHooks.
func hookObjects(r *release.Revision) [][]manifest.Object {
	objects := make([][]manifest.Object, len(r.Hooks))
	for i, h := range r.Hooks {
		if parsed, err := h.Objects(); err == nil {
			objects[i] = parsed
		}
	}
	return objects
}

// checkHooks returns an error if a hook that the operation runs can't be parsed, and warns about the
// others of an install or upgrade: Helm 4.3.1 reads a hook when its event comes (pkg/action/hooks.go,
// execHookWithDelayedShutdown).
func checkHooks(in *plan.Input) error {
	parsed := in.HookObjects()
	for i, h := range in.Hooks() {
		if parsed[i] != nil {
			continue
		}
		_, err := h.Objects()
		switch {
		case err == nil:
		case in.Runs(h):
			return err
		case !in.Options.NoHooks && (in.Operation == plan.Install || in.Operation == plan.Upgrade):
			in.Warnings = append(in.Warnings, plan.Problem{What: fmt.Sprintf("%v; this %s does not run it", err, in.Operation)})
		}
	}
	return nil
}
