package command

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/readiness"
)

// What is not ready can be found among a hundred objects: ready ones that say the same
// are one line, except for those that run pods.
func TestManyObjectsThatAreReadyAreOneLine(t *testing.T) {
	var states []engine.ObjectState
	add := func(group, kind string, state readiness.State, why string, names ...string) {
		for _, name := range names {
			object := manifest.Object{ID: manifest.ID{Group: group, Kind: kind, Name: name}}
			states = append(states, engine.ObjectState{Object: object, Result: readiness.Result{State: state, Why: why}})
		}
	}
	add("", "ConfigMap", readiness.Ready, "it is there", "a", "b")
	add("", "Service", readiness.Ready, "it has a cluster IP", "a", "b", "c")
	add("", "Service", readiness.Ready, "it is headless", "d")
	add("apps", "Deployment", readiness.Ready, "1 of 1 replica is ready", "a", "b", "c")
	add("apps", "Deployment", readiness.Progressing, "0 of 1 replicas are ready", "d")
	want := `RESOURCES: 9 of 10 are ready
  ✗ Deployment/d  0 of 1 replicas are ready
  ✓ 3 Services    it has a cluster IP
  ✓ Service/d     it is headless
  ✓ Deployment/a  1 of 1 replica is ready
  ✓ Deployment/b  1 of 1 replica is ready
  ✓ Deployment/c  1 of 1 replica is ready
  ✓ 2 ConfigMaps
`
	if diff := cmp.Diff(want, objectsText(states, nil)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
