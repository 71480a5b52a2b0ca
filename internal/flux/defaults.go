package flux

import (
	"cmp"
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reconcile strategies of HelmCharts: which change produces a new artifact.
const (
	ByChartVersion = "ChartVersion"
	ByRevision     = "Revision"
)

// The defaults of the CRD and of helm-controller's code.
const (
	defaultTimeout    = 5 * time.Minute
	defaultMaxHistory = 5
	cosign, generic   = "cosign", "generic"
)

// Timeout returns the timeout of actions that have none of their own: spec.timeout, or five minutes.
func (hr *HelmRelease) Timeout() time.Duration {
	if hr.Spec.Timeout == nil {
		return defaultTimeout
	}
	return hr.Spec.Timeout.Duration
}

// TimeoutOf returns the timeout of an action: its own, or Timeout if that is nil.
func (hr *HelmRelease) TimeoutOf(own *metav1.Duration) time.Duration {
	if own == nil {
		return hr.Timeout()
	}
	return own.Duration
}

// MaxHistory returns how many release records are kept, 0 for all.
func (hr *HelmRelease) MaxHistory() int {
	if hr.Spec.MaxHistory == nil {
		return defaultMaxHistory
	}
	return *hr.Spec.MaxHistory
}

// InlineValues returns spec.values, nil when they are not a map: helm-controller
// treats those as no values. Numbers are float64, as it reads them.
func (hr *HelmRelease) InlineValues() map[string]any {
	var out map[string]any
	if json.Unmarshal(hr.Spec.Values, &out) != nil {
		return nil
	}
	return out
}

// Tests returns the options of tests, the zero value if there are none.
func (hr *HelmRelease) Tests() Test {
	if hr.Spec.Test == nil {
		return Test{}
	}
	return *hr.Spec.Test
}

// DriftMode returns spec.driftDetection.mode, "" when live objects are not compared.
func (hr *HelmRelease) DriftMode() string {
	if d := hr.Spec.DriftDetection; d != nil && (d.Mode == DriftEnabled || d.Mode == DriftWarn) {
		return d.Mode
	}
	return ""
}

// Reinstalls reports whether a chart with another name means an uninstall and an
// install.
func (hr *HelmRelease) Reinstalls() bool {
	return hr.Spec.Upgrade == nil || hr.Spec.Upgrade.ChartNameChangeStrategy != InPlaceUpdate
}

// Remedy is what is done about the failures of an action.
type Remedy struct {
	Retries int
	// Last reports whether the last failure is remedied, too.
	Last bool
	// IgnoreTests reports whether failed tests do not count as failures.
	IgnoreTests bool
	// Strategy is RemedyRollback or RemedyUninstall.
	Strategy string
	// Failures is how often the action has failed, by the status.
	Failures int64
}

// Exhausted reports whether no retry is left: negative Retries never run out.
func (r Remedy) Exhausted() bool { return r.Retries >= 0 && r.Failures > int64(r.Retries) }

// InstallRemedy returns what is done about failed installs: they are uninstalled,
// by default except for the last one.
func (hr *HelmRelease) InstallRemedy() Remedy {
	var r *Remediation
	if hr.Spec.Install != nil {
		r = hr.Spec.Install.Remediation
	}
	out := hr.remedy(r)
	out.Strategy, out.Failures = RemedyUninstall, hr.Status.InstallFailures
	return out
}

// UpgradeRemedy returns what is done about failed upgrades. With retries, the last
// failure is remedied by default.
func (hr *HelmRelease) UpgradeRemedy() Remedy {
	var r *Remediation
	if hr.Spec.Upgrade != nil {
		r = hr.Spec.Upgrade.Remediation
	}
	out := hr.remedy(r)
	out.Strategy, out.Failures = RemedyRollback, hr.Status.UpgradeFailures
	if r != nil && r.Strategy != "" {
		out.Strategy = r.Strategy
	}
	if r != nil && r.RemediateLastFailure == nil {
		out.Last = r.Retries > 0
	}
	return out
}

func (hr *HelmRelease) remedy(r *Remediation) Remedy {
	out := Remedy{IgnoreTests: hr.Tests().IgnoreFailures}
	if r == nil {
		return out
	}
	out.Retries = r.Retries
	if r.RemediateLastFailure != nil {
		out.Last = *r.RemediateLastFailure
	}
	if r.IgnoreTestFailures != nil {
		out.IgnoreTests = *r.IgnoreTestFailures
	}
	return out
}

// ActiveRemedy returns the remedy of the last attempt; ok is false when there was none.
func (hr *HelmRelease) ActiveRemedy() (r Remedy, ok bool) {
	switch hr.Status.LastAttemptedReleaseAction {
	case AttemptInstall:
		return hr.InstallRemedy(), true
	case AttemptUpgrade:
		return hr.UpgradeRemedy(), true
	}
	return Remedy{}, false
}

// ActiveRetry returns the RetryOnFailure strategy of the last attempt, nil when it
// has another strategy or there was no attempt.
func (hr *HelmRelease) ActiveRetry() *Strategy {
	var s *Strategy
	switch {
	case hr.Status.LastAttemptedReleaseAction == AttemptInstall && hr.Spec.Install != nil:
		s = hr.Spec.Install.Strategy
	case hr.Status.LastAttemptedReleaseAction == AttemptUpgrade && hr.Spec.Upgrade != nil:
		s = hr.Spec.Upgrade.Strategy
	}
	if s == nil || s.Name != RetryOnFailure {
		return nil
	}
	return s
}

// Defaulted returns a copy with the defaults that the API server fills in from the
// CRD, so a spec from a file can be compared with a live one.
func (s HelmReleaseSpec) Defaulted() HelmReleaseSpec {
	if s.Chart != nil && s.Chart.Spec != nil && s.Chart.Kind != KindOCIRepository {
		template, spec := *s.Chart, *s.Chart.Spec
		if spec.Version == "" {
			spec.Version = "*"
		}
		if spec.ReconcileStrategy == "" {
			spec.ReconcileStrategy = ByChartVersion
		}
		spec.Verify = spec.Verify.by(cosign)
		template.Spec = &spec
		s.Chart = &template
	}
	if s.Uninstall != nil && s.Uninstall.DeletionPropagation == "" {
		u := *s.Uninstall
		u.DeletionPropagation = "background"
		s.Uninstall = &u
	}
	return s
}

// HelmChart returns the spec of the HelmChart that helm-controller creates from the template, nil if
// that makes none (helm-controller 1.6.3, internal/reconcile/helmchart_template.go,
// buildHelmChartFromTemplate).
func (hr *HelmRelease) HelmChart() *SourceSpec {
	t := hr.Spec.Chart
	if t == nil || t.Spec == nil || t.Kind == KindOCIRepository {
		return nil
	}
	made := SourceSpec{
		Interval: hr.Spec.Interval, Chart: t.Spec.Chart, Version: t.Spec.Version, SourceRef: t.Spec.SourceRef,
		ReconcileStrategy: t.Spec.ReconcileStrategy, ValuesFiles: t.Spec.ValuesFiles,
		IgnoreMissingValuesFiles: t.Spec.IgnoreMissingValuesFiles, Verify: t.Spec.Verify,
	}
	if t.Spec.Interval != nil {
		made.Interval = *t.Spec.Interval
	}
	return made.defaulted(hr.Metadata.Namespace)
}

// HelmChart returns the spec of a HelmChart, nil for sources of other kinds.
func (s *Source) HelmChart() *SourceSpec {
	if s.Kind != KindHelmChart {
		return nil
	}
	return s.Spec.defaulted(s.Metadata.Namespace)
}

// defaulted returns a copy of a HelmChart's spec with the defaults that the API server fills in from the CRD,
// and with the namespace of its source.
func (s SourceSpec) defaulted(namespace string) *SourceSpec {
	s.Version, s.ReconcileStrategy = cmp.Or(s.Version, "*"), cmp.Or(s.ReconcileStrategy, ByChartVersion)
	if s.SourceRef != nil {
		s.SourceRef = &Reference{Kind: s.SourceRef.Kind, Name: s.SourceRef.Name, Namespace: cmp.Or(s.SourceRef.Namespace, namespace)}
	}
	s.Verify = s.Verify.by(cosign)
	return &s
}

// Defaulted returns the spec of a source with the defaults that the API server fills in from the CRD, except
// that of the timeout, and with the namespace of a HelmChart's source.
func (s *Source) Defaulted() SourceSpec {
	out := s.Spec
	switch s.Kind {
	case KindHelmChart:
		return *s.Spec.defaulted(s.Metadata.Namespace)
	case KindOCIRepository:
		out.Provider, out.Verify = cmp.Or(out.Provider, generic), out.Verify.by(cosign)
	case KindHelmRepository, KindBucket:
		out.Provider = cmp.Or(out.Provider, generic)
	case KindGitRepository:
		if out.Verify != nil {
			verify := *out.Verify
			verify.Mode = cmp.Or(verify.Mode, "HEAD")
			out.Verify = &verify
		}
	}
	return out
}

// by returns a copy with the provider that is the default; nil for nil.
func (v *Verification) by(provider string) *Verification {
	if v == nil {
		return nil
	}
	out := *v
	out.Provider = cmp.Or(out.Provider, provider)
	return &out
}
