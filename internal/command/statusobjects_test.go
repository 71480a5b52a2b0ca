package command

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/readiness"
)

func TestOneObjectIsReady(t *testing.T) {
	for state, want := range map[readiness.State]string{
		readiness.Ready:       "RESOURCES: 1 of 1 is ready\n  ✓ Service/a  so it is\n",
		readiness.Progressing: "RESOURCES: 0 of 1 is ready\n  ✗ Service/a  so it is\n",
	} {
		object := manifest.Object{ID: manifest.ID{Kind: "Service", Name: "a"}}
		states := []engine.ObjectState{{Object: object, Result: readiness.Result{State: state, Why: "so it is"}}}
		if diff := cmp.Diff(want, objectsText(states, nil)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

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

// After an uninstall that has failed, status says how to uninstall the release, not how to upgrade it.
func TestStatusGoesOnWithAnUninstall(t *testing.T) {
	d := atDesk(t)
	d.must("install web ./web")
	for _, want := range [][]string{{"uninstall web", "rollback web 1"}, {"uninstall web", "rollback web 1"}} {
		d.failsNext()
		d.types("uninstall web")
		status := d.must("status web")
		if got := status.hints(); !slices.Equal(got, want) {
			t.Errorf("-want +got:\n%s", cmp.Diff(want, got))
		}
		status.has(t, "rollback web 1 Add --keep-history to the uninstall if the records are to be kept. ")
	}
	d.file("new/Chart.yaml", "{apiVersion: v2, name: new, version: 1.0.0}")
	d.file("new/templates/a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
	d.file("new/templates/b.yaml", "{apiVersion: v1, kind: Service, metadata: {name: b}}")
	d.fails(2)
	d.types("install new ./new")
	d.failsNext()
	d.types("uninstall new")
	status := d.must("status new")
	if got := status.hints(); !slices.Equal(got, []string{"uninstall new"}) {
		t.Errorf("the hints are %q", got)
	}
	status.has(t, "--keep-history")
}
