package repository

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/plan"
)

// chartLayer is the type of the layer that holds a chart. With it, source-controller takes _ in a tag
// for the + of a version (v1.9.1, internal/controller/ocirepository_controller.go,
// convertOCIToSemVerTag).
const chartLayer = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

// oci returns a chart in a registry: a digest takes precedence over a range of versions among the
// tags that semverFilter selects, and that over a tag, which is "latest" if none is given.
func (m *Managed) oci(url string, ref *flux.SourceVersion, layer *flux.LayerSelector) releaseset.Chart {
	out := releaseset.Chart{Name: url}
	if ref == nil {
		ref = &flux.SourceVersion{}
	}
	if layer != nil && layer.Operation == "extract" {
		m.fields = append(m.fields, "the OCIRepository's layerSelector extracts its layer, which is then not a chart that helm-controller can load")
	}
	switch {
	case ref.Digest != "":
		out.Name += "@" + ref.Digest
		return out
	case ref.SemVer != "":
		out.Version, out.Tags = ref.SemVer, cmp.Or(ref.SemverFilter, resolve.AnyTag)
		out.PlusTags = layer != nil && layer.MediaType == chartLayer
		return out
	}
	tag := cmp.Or(ref.Tag, "latest")
	if version := resolve.VersionOf(tag); exact(version) {
		out.Version = version
	} else {
		out.Name += ":" + tag
	}
	return out
}

func exact(version string) bool {
	_, err := semver.StrictNewVersion(version)
	return err == nil
}

// Version returns the chart's version with the digest of an OCIRepository's artifact as its
// metadata, "" for other sources. It is an error if the tag, whether named or chosen from a
// range, is another version than the chart's.
func (m *Managed) Version(of *chart.Metadata, from *plan.ChartSource) (string, error) {
	if m.hr.ChartSource().Kind != flux.KindOCIRepository || from == nil {
		return "", nil
	}
	image, _, err := resolve.ParseImage(from.URL)
	if err != nil {
		return "", err
	}
	revision := from.Digest
	if image.Tag != "" {
		revision = image.Tag + "@" + revision
	}
	version, _, err := flux.VersionOf(of.Version, revision)
	return version, err
}

// source looks at the source in the cluster, unless the change makes it another one:
// helm-controller waits for a source that is not ready, and its artifact is the chart. before
// is the live HelmRelease, nil for none. The notes say where the plan is based on something
// other than the artifact; exact reports whether the chart's version is the artifact's.
func (m *Managed) source(has releaseset.Live, before *Managed, is *chart.Metadata, in *decision.Input) (notes []string, exact bool) {
	exact = m.pinned(is)
	ref := m.hr.ChartSource()
	live, declared, err := m.sourceNow(has.Lookup, ref)
	if err != nil {
		return []string{fmt.Sprintf("%s can't be read in the cluster and is assumed to be ready: %v", ref, err)}, exact
	}
	templated := m.hr.Spec.Chart != nil
	switch {
	case live == nil && !templated && declared == nil:
		in.Obstacles.NoSource = fmt.Errorf("%s is neither in the cluster nor in the repository", ref)
		return nil, exact
	case live == nil:
		return m.checkout(has), exact
	case templated && (before == nil || !reflect.DeepEqual(m.hr.Spec.Defaulted().Chart, before.hr.Spec.Defaulted().Chart)),
		declared != nil && !sameSource(declared, live):
		if why := live.NotReady(); why != "" {
			notes = append(notes, fmt.Sprintf("%s is not ready now: %s; the change replaces it, and the new one may be ready", ref, why))
		}
		return append(notes, m.checkout(has)...), exact
	}
	if why := live.NotReady(); why != "" {
		in.Obstacles.SourceNotReady = fmt.Sprintf("waits for %s, which is not ready: %s", ref, why)
		return nil, exact
	}
	revision := live.Status.Artifact.Revision
	if live.HasRevisionDigest() {
		version, _, err := flux.VersionOf(is.Version, revision)
		in.Obstacles.Version = err
		switch {
		case err != nil:
		case exact && version != is.Version:
			notes = append(notes, fmt.Sprintf("%s is at %s in the cluster, but the registry has %s by now: it is deployed after the source's next check", ref, revision, is.Version))
		default:
			in.Chart.Version, exact = version, true
		}
		return notes, exact
	}
	if ref.Kind == flux.KindExternalArtifact { // nothing is added to the version
		in.Chart.Version, exact = is.Version, true
	}
	if mine, theirs := core(is.Version), core(revision); !m.git && mine != theirs {
		notes = append(notes, fmt.Sprintf("%s is at version %s in the cluster, but the plan is for %s", ref, theirs, mine))
	}
	return append(notes, m.checkout(has)...), exact
}

// core returns a version without metadata.
func core(version string) string {
	out, _, _ := strings.Cut(version, "+")
	return out
}

// sourceNow returns a source as it is in the cluster and as the repository declares it, nil for
// each that does not exist.
func (m *Managed) sourceNow(lookup releaseset.Lookup, ref flux.Reference) (live, declared *flux.Source, err error) {
	if declared, err = m.in.source(ref); err != nil {
		return nil, nil, err
	}
	live, err = liveSource(lookup, ref)
	return live, declared, err
}

// liveSource returns a source as it is in the cluster, nil if it is not there.
func liveSource(lookup releaseset.Lookup, ref flux.Reference) (*flux.Source, error) {
	object, err := lookup(flux.SourceGroup+"/v1", ref.Kind, ref.Namespace, ref.Name)
	if err != nil || object == nil {
		return nil, err
	}
	return flux.DecodeSource(object)
}

// sameSource reports whether two sources have the same content, as far as their specs
// determine it.
func sameSource(a, b *flux.Source) bool {
	return reflect.DeepEqual(decisive(a), decisive(b))
}

// decisive returns the spec with its defaults, and without what the content does not depend on.
func decisive(s *flux.Source) flux.SourceSpec {
	out := s.Defaulted()
	out.Interval.Duration, out.Timeout, out.Suspend = 0, nil, false
	return out
}

// checkout returns notes about the GitRepository in the cluster that is the repository itself:
// that it is not ready, or at another commit than the one the change is compared with.
func (m *Managed) checkout(has releaseset.Live) []string {
	if !m.git {
		return nil
	}
	live, _, err := m.sourceNow(has.Lookup, m.repository)
	switch {
	case err != nil || live == nil:
		return nil
	case live.NotReady() != "":
		return []string{fmt.Sprintf("%s is not ready: %s; nothing of the change is applied before it is", m.repository, live.NotReady())}
	}
	revision := live.Status.Artifact.Revision
	commit := revision[strings.LastIndexByte(revision, ':')+1:]
	if has.Commit == "" || commit == has.Commit {
		return nil
	}
	return []string{fmt.Sprintf("%s is at %s in the cluster, but the plan is compared with commit %s: changes in between are applied, too", m.repository, revision, has.Commit)}
}
