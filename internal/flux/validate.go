package flux

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// Validate returns what the API server (by the CRD) and helm-controller would
// refuse: errors that are joined, each beginning with the path of its field.
func (hr *HelmRelease) Validate() error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	spec := &hr.Spec
	switch {
	case spec.Chart == nil && spec.ChartRef == nil:
		refuse("spec: either chart or chartRef must be set")
	case spec.Chart != nil && spec.ChartRef != nil:
		refuse("spec: either chart or chartRef must be set, not both")
	case spec.Chart != nil:
		errs = append(errs, spec.Chart.validate()...)
	}
	if spec.Interval.Duration == 0 && !hasField(hr.Object, "spec", "interval") {
		refuse("spec.interval: required")
	}
	if len(spec.ReleaseName) > release.LongestName {
		refuse("spec.releaseName: longer than %d characters", release.LongestName)
	}
	if k := spec.KubeConfig; k != nil && (k.SecretRef == nil) == (k.ConfigMapRef == nil) {
		refuse("spec.kubeConfig: exactly one of configMapRef or secretRef must be set")
	}
	for i, ref := range spec.ValuesFrom {
		errs = append(errs, oneOf(fmt.Sprintf("spec.valuesFrom[%d].kind", i), ref.Kind, kinds.Secret.Kind, kinds.ConfigMap.Kind))
	}
	if r := spec.ChartRef; r != nil {
		errs = append(errs, oneOf("spec.chartRef.kind", r.Kind, KindOCIRepository, KindHelmChart, KindExternalArtifact))
	}
	if d := spec.DriftDetection; d != nil {
		errs = append(errs, oneOf("spec.driftDetection.mode", d.Mode, "", DriftEnabled, DriftWarn, "disabled"))
		for i, rule := range d.Ignore {
			if _, err := rule.Target.Compile(); err != nil {
				refuse("spec.driftDetection.ignore[%d].target.%w", i, err)
			}
		}
	}
	errs = append(errs, oneOf("spec.postRenderStrategy", spec.PostRenderStrategy, "", "nohooks", "combined", "separate"))
	return errors.Join(append(errs, hr.validateActions()...)...)
}

func (hr *HelmRelease) validateActions() []error {
	var errs []error
	if i := hr.Spec.Install; i != nil {
		errs = append(errs, i.Strategy.validate("spec.install.strategy"),
			oneOf("spec.install.crds", i.CRDs, "", "Skip", "Create", "CreateReplace"))
	}
	if u := hr.Spec.Upgrade; u != nil {
		errs = append(errs, u.Strategy.validate("spec.upgrade.strategy"),
			oneOf("spec.upgrade.crds", u.CRDs, "", "Skip", "Create", "CreateReplace"),
			oneOf("spec.upgrade.serverSideApply", u.ServerSideApply, "", "enabled", "disabled", "auto"),
			oneOf("spec.upgrade.chartNameChangeStrategy", u.ChartNameChangeStrategy, "", InPlaceUpdate, "Reinstall"))
		if r := u.Remediation; r != nil {
			errs = append(errs, oneOf("spec.upgrade.remediation.strategy", r.Strategy, "", RemedyRollback, RemedyUninstall))
		}
	}
	return errs
}

func (s *Strategy) validate(path string) error {
	if s == nil {
		return nil
	}
	if s.RetryInterval != nil && s.Name != RetryOnFailure {
		return fmt.Errorf("%s.retryInterval: only with name %s", path, RetryOnFailure)
	}
	return oneOf(path+".name", s.Name, RemediateOnFailure, RetryOnFailure)
}

// validate keeps the two kinds of templates apart: the fields of one are
// refused in the other (API 1.7).
func (t *ChartTemplate) validate() []error {
	if t.Spec == nil {
		return []error{errors.New("spec.chart.spec: required")}
	}
	errs := []error{oneOf("spec.chart.kind", t.Kind, "", KindHelmChart, KindOCIRepository)}
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	s := t.Spec
	if t.Kind == KindOCIRepository {
		if s.URL == "" {
			refuse("spec.chart.spec.url: required with kind %s", KindOCIRepository)
		}
		if s.Chart != "" || s.Version != "" || s.SourceRef != nil || s.ReconcileStrategy != "" ||
			len(s.ValuesFiles) > 0 || s.IgnoreMissingValuesFiles {
			refuse("spec.chart.spec: chart, version, sourceRef, reconcileStrategy and valuesFiles are not allowed with kind %s",
				KindOCIRepository)
		}
		return errs
	}
	if s.Chart == "" {
		refuse("spec.chart.spec.chart: required")
	}
	if s.SourceRef == nil {
		refuse("spec.chart.spec.sourceRef: required")
	} else {
		errs = append(errs, oneOf("spec.chart.spec.sourceRef.kind", s.SourceRef.Kind,
			KindHelmRepository, KindGitRepository, KindBucket))
	}
	if s.URL != "" || s.Ref != nil || s.LayerSelector != nil {
		refuse("spec.chart.spec: url, ref and layerSelector need kind %s", KindOCIRepository)
	}
	return append(errs, oneOf("spec.chart.spec.reconcileStrategy", s.ReconcileStrategy, "", ByChartVersion, ByRevision))
}

func oneOf(path, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("%s: %q is not one of %q", path, value, slices.DeleteFunc(allowed, func(s string) bool { return s == "" }))
}

func hasField(object map[string]any, path ...string) bool {
	for _, name := range path[:len(path)-1] {
		object, _ = object[name].(map[string]any)
	}
	_, ok := object[path[len(path)-1]]
	return ok
}
