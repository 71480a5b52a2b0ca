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

// finalizer has an Application's objects deleted with it.
const finalizer = "resources-finalizer.argocd.argoproj.io"

// manager is the Application behind an entry. It implements releaseset.Manager.
type manager struct {
	*application
	helm *helm
	spec any
	err  error
}

// Err is why the entry can't be planned.
func (m *manager) Err() error { return m.err }

// Sum stands for all of the Application that its objects depend on.
func (m *manager) Sum() string {
	data, err := json.Marshal(m.spec)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// Estimated is false: all values are at hand.
func (*manager) Estimated(map[string]any) bool { return false }

// Version is the chart's own.
func (*manager) Version(*chart.Metadata, *plan.ChartSource) (string, error) { return "", nil }

// Rewrite leaves out tests where the Application does.
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

// Next is a sync: at once, or by hand.
func (m *manager) Next(releaseset.Manager, *chart.Metadata, *chart.Metadata, bool) releaseset.Verdict {
	out := releaseset.Verdict{Action: "sync", Plans: true}
	switch auto := m.Spec.SyncPolicy.Automated; {
	case auto == nil, auto.Enabled != nil && !*auto.Enabled:
		out.Notes = append(out.Notes, "Argo CD reports it out of sync until somebody syncs it: syncPolicy.automated is not set")
	case !auto.Prune:
		out.Notes = append(out.Notes, "Argo CD syncs it, and keeps objects that the chart has no longer: syncPolicy.automated.prune is not set")
	default:
		out.Notes = append(out.Notes, "Argo CD syncs it")
	}
	if m.helm.KubeVersion != "" || len(m.helm.APIVersions) > 0 {
		out.Notes = append(out.Notes, "its kubeVersion and apiVersions are not taken: give them with --kube-version and --api-versions")
	}
	return out
}

// Removed is what becomes of the objects when the Application leaves the repository.
func (m *manager) Removed(map[string]releaseset.Applier) releaseset.Verdict {
	if slices.ContainsFunc(m.Metadata.Finalizers, func(f string) bool { return strings.HasPrefix(f, finalizer) }) {
		return releaseset.Verdict{Action: "uninstall", Plans: true, Notes: []string{"where the Application is deleted, its finalizer has its objects deleted"}}
	}
	return releaseset.Verdict{Action: "nothing", Notes: []string{"left running: the Application has no finalizer " + finalizer}}
}

// The rest is for controllers with releases, and with values of other objects.

// Writer has no storage: there are no records.
func (*manager) Writer() releaseset.Writer { return releaseset.Writer{} }

// Unknown is nothing.
func (*manager) Unknown() []string { return nil }

// Secrets are none.
func (*manager) Secrets() [][]byte { return nil }

// ChartValues are none: the chart's own values stay.
func (*manager) ChartValues() releaseset.ChartValues { return releaseset.ChartValues{} }

// InCluster is not asked for.
func (m *manager) InCluster(releaseset.Lookup) (releaseset.Manager, []releaseset.Value) {
	return m, nil
}

// Live is not asked for.
func (m *manager) Live(_ releaseset.Live, is *chart.Metadata, rewritten bool) (releaseset.Verdict, error) {
	return m.Next(nil, is, is, rewritten), nil
}

// Overlook overlooks nothing.
func (*manager) Overlook(*plan.Step) plan.Overlooked { return plan.Overlooked{} }
