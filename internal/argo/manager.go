package argo

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/plan"
)

// finalizer makes Argo CD delete an Application's objects with it.
const finalizer = "resources-finalizer.argocd.argoproj.io"

// manager is the Application behind an entry. It implements releaseset.Manager.
type manager struct {
	*application
	helm *helm
	spec any
	err  error
	// follows says that the chart's files are those of another branch or version than the checkout is of, or "".
	follows string
}

// Err returns why the entry can't be planned, nil when it can.
func (m *manager) Err() error { return m.err }

// Sum returns the spec as text: all of the Application that its objects depend on.
func (m *manager) Sum() string {
	data, err := json.Marshal(m.spec)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// Estimated returns false: all values are known.
func (*manager) Estimated(map[string]any) bool { return false }

// Version returns "", for the chart's own version.
func (*manager) Version(*chart.Metadata, *plan.ChartSource) (string, error) { return "", nil }

// Rewrite removes the test hooks if the Application has skipTests.
func (m *manager) Rewrite(text string) (string, error) {
	if !m.helm.SkipTests {
		return text, nil
	}
	var out strings.Builder
	for _, doc := range manifest.Split(text) {
		test, err := isTest(doc)
		if err != nil {
			return "", err
		}
		if !test {
			out.WriteString("---\n" + doc + "\n")
		}
	}
	return out.String(), nil
}

func isTest(doc string) (bool, error) {
	objects, err := manifest.ParseDocument(doc, "")
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(objects, func(o manifest.Object) bool {
		events := strings.Split(o.Doc.GetAnnotations()[manifest.HookAnnotation], ",")
		return slices.ContainsFunc(events, func(e string) bool { return strings.HasPrefix(strings.TrimSpace(e), string(manifest.Test)) })
	}), nil
}

// Next returns a sync, with notes on whether it is automatic or by hand.
func (m *manager) Next(releaseset.Manager, *chart.Metadata, *chart.Metadata, bool) releaseset.Verdict {
	out := releaseset.Verdict{Action: "sync", Plans: true}
	switch by, prunes := m.syncs(); {
	case by != "":
		out.Notes = append(out.Notes, "Argo CD reports it out of sync until somebody syncs it: "+by)
	case !prunes:
		out.Notes = append(out.Notes, "Argo CD syncs it, and keeps objects that are no longer in the chart: syncPolicy.automated.prune is not set")
	default:
		out.Notes = append(out.Notes, "Argo CD syncs it")
	}
	if m.follows != "" {
		out.Notes = append(out.Notes, m.follows)
	}
	if m.helm.estimated() {
		out.Notes = append(out.Notes, "$"+revision+" in a parameter is not replaced: the commit is not known before the change is merged")
	}
	if m.helm.KubeVersion != "" || len(m.helm.APIVersions) > 0 {
		out.Notes = append(out.Notes, "its kubeVersion and apiVersions are ignored: pass them with --kube-version and --api-versions")
	}
	return out
}

// syncs returns why the Application is synced by hand, "" if Argo CD does so, and whether that prunes.
func (m *manager) syncs() (byHand string, prunes bool) {
	switch auto := m.Spec.SyncPolicy.Automated; {
	case auto == nil:
		return "syncPolicy.automated is not set", false
	case auto.Enabled != nil && !*auto.Enabled:
		return "syncPolicy.automated.enabled is false", false
	default:
		return "", auto.Prune
	}
}

// Moved returns what happens to the objects: those that an Application has applied to its cluster and no longer
// renders are deleted only by a sync that prunes (argo-cd docs/user-guide/auto_sync.md, Automatic Pruning).
func (m *manager) Moved(to releaseset.Manager) releaseset.Verdict {
	next, ok := to.(*manager)
	if !ok {
		next = m
	}
	moves := m.String() + " moves to another release"
	switch by, prunes := next.syncs(); {
	case by != "":
		return releaseset.Verdict{Action: "nothing", Notes: []string{"left running: " + moves + ", and the objects of this one stay until somebody syncs it and prunes: " + by}}
	case !prunes:
		return releaseset.Verdict{Action: "nothing", Notes: []string{"left running: " + moves + ", and Argo CD keeps the objects of this one: syncPolicy.automated.prune is not set"}}
	}
	return releaseset.Verdict{Action: "uninstall", Plans: true, Notes: []string{moves + ": Argo CD deletes the objects of this one, except those that the other one has, too"}}
}

// Removed returns what happens to the objects when the Application is removed from the repository.
func (m *manager) Removed(map[string]releaseset.Applier, releaseset.Lookup) releaseset.Verdict {
	if slices.ContainsFunc(m.Metadata.Finalizers, func(f string) bool { return strings.HasPrefix(f, finalizer) }) {
		return releaseset.Verdict{Action: "uninstall", Plans: true, Notes: []string{"if the Application is deleted, its finalizer deletes its objects, too"}}
	}
	return releaseset.Verdict{Action: "nothing", Notes: []string{"left running: the Application has no finalizer " + finalizer}}
}

// The rest is for controllers that keep releases, or take values from other objects.

// Applier returns "": what applies Applications is not followed.
func (*manager) Applier() string { return "" }

// Inactive returns "": whether somebody has to sync an Application is a note about it.
func (*manager) Inactive() string { return "" }

// Writer returns a Writer without storage: there are no records.
func (*manager) Writer() releaseset.Writer { return releaseset.Writer{} }

// Unknown returns none.
func (*manager) Unknown() []string { return nil }

// Secrets returns none.
func (*manager) Secrets() [][]byte { return nil }

// ChartValues returns none: the chart's own values stay.
func (*manager) ChartValues() releaseset.ChartValues { return releaseset.ChartValues{} }

// InCluster returns e: there is nothing to read from the cluster.
func (*manager) InCluster(e releaseset.Entry, _ releaseset.Lookup) releaseset.Entry { return e }

// Live returns what Next returns: it does not depend on the cluster.
func (m *manager) Live(_ releaseset.Live, is *chart.Metadata, rewritten bool) (releaseset.Verdict, error) {
	return m.Next(nil, is, is, rewritten), nil
}

// EachCommit returns "": what is rendered counts.
func (*manager) EachCommit() string { return "" }

// Overlook overlooks nothing.
func (*manager) Overlook() (func(*plan.Step) plan.Overlooked, error) { return nil, nil }
