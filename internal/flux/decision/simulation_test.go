package decision_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/composition"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/internal/flux/digest"
	"github.com/kubectl-release/kubectl-release/internal/fluxtest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// simulation is the state of a HelmRelease within a step: the status as it was written
// so far, and the records that it represents.
type simulation struct {
	step  *fluxtest.Step
	hr    flux.HelmRelease
	input decision.Input
	// records are all that are stored, of any name.
	records []fluxtest.Record
	// known are full snapshots; writes show them abbreviated.
	known []flux.Snapshot
}

func newSimulation(before, step *fluxtest.Step) *simulation {
	s := &simulation{step: step, hr: *step.HelmRelease}
	s.hr.Status = flux.HelmReleaseStatus{ObservedGeneration: -1}
	s.known = slices.Clone(step.HelmRelease.Status.History)
	if before != nil {
		s.records = byHand(before.Records, step.Applied)
		if before.HelmRelease != nil {
			s.hr.Status = before.HelmRelease.Status
			s.known = append(s.known, s.hr.Status.History...)
		}
	}
	s.gather()
	return s
}

// gather fills the input with what the step's objects say. What needs a cluster
// or a chart's bytes is taken from the conditions.
func (s *simulation) gather() {
	in := &s.input
	hr := &s.hr
	said := func(condition string) bool { return slices.Contains(s.step.Conditions, condition) }
	if said("Stalled True InvalidCELExpression") && len(hr.Spec.HealthCheckExprs) > 0 {
		in.Obstacles.Expression = errTrace
	}
	if said("Ready False RESTClientError") {
		in.Obstacles.Client = errTrace
	}
	if said("Ready False StateError") && hr.DriftMode() == "" {
		in.Obstacles.Records = errTrace
	}
	switch {
	case said("Drifted True DriftDetected"):
		in.Drift = decision.DriftFound
	case said("Ready False StateError"):
		in.Drift = decision.DriftUnknown
	}
	for _, dep := range hr.Spec.DependsOn {
		in.Dependencies = append(in.Dependencies, s.dependency(dep))
	}
	s.source()
	if said("Ready False ArtifactFailed") && in.Obstacles.NoSource == nil {
		in.Obstacles.Chart = errTrace
	}
	composed, err := composition.Compose(hr, func(ref flux.ValuesReference) ([]byte, composition.Found) {
		data, ok := s.step.Data(ref.Kind, hr.Metadata.Namespace, ref.Name, ref.Key())
		if !ok {
			return nil, composition.Missing
		}
		return data, composition.Known
	})
	if in.Obstacles.Values = err; err == nil {
		in.ValuesDigest, _ = digest.Values(composed.Values)
	}
}

func (s *simulation) dependency(dep flux.Dependency) decision.Dependency {
	out := decision.Dependency{Name: dep.In(s.hr.Metadata.Namespace).String(), Expression: dep.ReadyExpr != "", Ready: len(s.step.Actions) > 0}
	for _, o := range s.step.Others {
		if o.String() == out.Name {
			out.HelmRelease = o
		}
	}
	if slices.Contains(s.step.Conditions, "Stalled True InvalidCELExpression") {
		out.Invalid = errTrace
	}
	return out
}

// source fills in the chart from the source's artifact.
func (s *simulation) source() {
	ref, o := s.hr.ChartSource(), &s.input.Obstacles
	i := slices.IndexFunc(s.step.Sources, func(x *flux.Source) bool { return x.Reference() == ref })
	if i < 0 {
		o.NoSource = errTrace
		return
	}
	source := s.step.Sources[i]
	if o.SourceNotReady = source.NotReady(); o.SourceNotReady != "" {
		return
	}
	artifact := source.Status.Artifact
	if source.Kind == flux.KindHelmChart {
		s.input.Chart = decision.Chart{Name: source.Status.ObservedChartName, Version: artifact.Revision}
		return
	}
	name, version, _ := strings.Cut(strings.TrimSuffix(artifact.Path, ".tgz"), "-")
	s.input.Chart.Name = name
	s.input.Chart.Version, s.input.Chart.Digest, o.Version = flux.VersionOf(version, artifact.Revision)
}

// next decides on the state as it is.
func (s *simulation) next() decision.Decision {
	in := s.input
	in.HelmRelease = &s.hr
	for _, r := range s.records {
		if r.Name == s.hr.ReleaseName() && r.StorageNamespace == s.hr.StorageNamespace() {
			in.Records = append(in.Records, r.Revision)
		}
	}
	return decision.Next(in)
}

// attempted makes the write that a pass makes before its first action and that a trace
// does not show.
func (s *simulation) attempted() {
	status := &s.hr.Status
	if status.LastAttemptedGeneration != s.hr.Metadata.Generation {
		status.Failures, status.InstallFailures, status.UpgradeFailures = 0, 0, 0
	}
	status.LastAttemptedGeneration = s.hr.Metadata.Generation
	status.LastAttemptedRevision = s.input.Chart.Version
	status.LastAttemptedConfigDigest = s.input.ValuesDigest
}

// apply applies one write of the status.
func (s *simulation) apply(write map[string]any) {
	status := &s.hr.Status
	text := func(name string, into *string) {
		if v, ok := write[name]; ok {
			*into, _ = v.(string)
		}
	}
	count := func(name string, into *int64) {
		if v, ok := write[name]; ok {
			*into = number(v)
		}
	}
	count("observedGeneration", &status.ObservedGeneration)
	count("failures", &status.Failures)
	count("installFailures", &status.InstallFailures)
	count("upgradeFailures", &status.UpgradeFailures)
	text("storageNamespace", &status.StorageNamespace)
	text("lastHandledReconcileAt", &status.LastHandledReconcileAt)
	text("lastHandledForceAt", &status.LastHandledForceAt)
	text("lastHandledResetAt", &status.LastHandledResetAt)
	text("observedPostRenderersDigest", &status.ObservedPostRenderersDigest)
	text("observedCommonMetadataDigest", &status.ObservedCommonMetadataDigest)
	if v, ok := write["lastAttemptedReleaseAction"].(string); ok {
		status.LastAttemptedReleaseAction = flux.Attempt(v)
	}
	if lines, ok := write["history"].([]any); ok {
		had := len(status.History) > 0
		status.History = nil
		for _, line := range lines {
			status.History = append(status.History, s.snapshot(line.(string)))
		}
		if had || len(lines) > 0 {
			s.stand()
		}
	}
}

// snapshot returns the one that a write shows abbreviated: "ns/name v2 deployed upgrade
// 1.0.0 3a4029c8e722".
func (s *simulation) snapshot(line string) flux.Snapshot {
	m := snapshotLine.FindStringSubmatch(line)
	out := flux.Snapshot{
		Namespace: m[1], Name: m[2], Version: int(number(m[3])), Status: m[4], Action: strings.Trim(m[5], "-"), ChartVersion: m[6],
		ChartName: s.input.Chart.Name, ConfigDigest: s.input.ValuesDigest,
	}
	for _, k := range s.known {
		if k.Version == out.Version && k.Name == out.Name {
			out.ChartName, out.ConfigDigest, out.OCIDigest = k.ChartName, k.ConfigDigest, k.OCIDigest
		}
	}
	if out.Action == "rollback" && out.Status == "deployed" {
		for _, h := range s.hr.Status.Snapshots() {
			if h.Status == "deployed" || h.Status == "superseded" {
				out.ConfigDigest = h.ConfigDigest
				break
			}
		}
	}
	if m[8] != "" {
		phases := map[string]*string{}
		_ = json.Unmarshal([]byte(m[8]), &phases)
		out.TestHooks = map[string]*flux.TestHook{}
		for name, phase := range phases {
			out.TestHooks[name] = nil
			if phase != nil {
				out.TestHooks[name] = &flux.TestHook{Phase: *phase}
			}
		}
	}
	s.known = append([]flux.Snapshot{out}, s.known...)
	return out
}

// stand creates the records that the snapshots represent. Their digests are not
// checked, since the snapshots have no apiVersion. An uninstall removes them all.
func (s *simulation) stand() {
	namespace := s.hr.Status.StorageNamespace
	if namespace == "" {
		namespace = s.hr.StorageNamespace()
	}
	s.records = slices.DeleteFunc(slices.Clone(s.records), func(r fluxtest.Record) bool { return r.StorageNamespace == namespace })
	for _, h := range s.hr.Status.History {
		if h.Status == string(release.StatusUninstalling) {
			return
		}
		s.records = append(s.records, fluxtest.Record{StorageNamespace: namespace, Revision: &release.Revision{
			Name: h.Name, Namespace: h.Namespace, Version: h.Version, Info: release.Info{Status: release.Status(h.Status)},
			Chart: &chart.Chart{Metadata: &chart.Metadata{Name: h.ChartName, Version: h.ChartVersion}},
		}})
	}
}

// edit returns a record as somebody has edited it.
func edit(r fluxtest.Record, what string) *release.Revision {
	next := *r.Revision
	switch _, status, ok := strings.Cut(what, "label status="); {
	case ok:
		next.Info.Status = release.Status(strings.TrimSpace(status))
	case strings.HasPrefix(what, "manifest"):
		next.Manifest += "# " + strconv.Itoa(next.Version)
	default:
		next.Info.Description += " by hand"
	}
	return &next
}
