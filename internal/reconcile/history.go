package reconcile

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/digest"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// kept is how many snapshots remain when none of them is good, most how many there may be in the
// meantime.
const (
	kept = 5
	most = 2 * kept
)

// snapshot returns a record as the status shows it.
func snapshot(r *release.Revision, action, ociDigest string) (flux.Snapshot, error) {
	sum, err := digest.Record(r, ociDigest)
	if err != nil {
		return flux.Snapshot{}, err
	}
	config, err := digest.Values(r.Config)
	if err != nil {
		return flux.Snapshot{}, err
	}
	out := flux.Snapshot{
		APIVersion: flux.SnapshotAPIVersion, Digest: sum, Name: r.Name, Namespace: r.Namespace, Version: r.Version,
		Status: string(r.Info.Status), Action: action, ConfigDigest: config, OCIDigest: ociDigest,
		FirstDeployed: metav1.NewTime(r.Info.FirstDeployed).Rfc3339Copy(), LastDeployed: metav1.NewTime(r.Info.LastDeployed).Rfc3339Copy(),
	}
	if !r.Info.Deleted.IsZero() {
		out.Deleted = metav1.NewTime(r.Info.Deleted).Rfc3339Copy()
	}
	if r.Chart != nil && r.Chart.Metadata != nil {
		out.ChartName, out.ChartVersion, out.AppVersion = r.Chart.Metadata.Name, r.Chart.Metadata.Version, r.Chart.Metadata.AppVersion
	}
	return out, nil
}

// isOf reports whether the snapshot is one of the record.
func isOf(s flux.Snapshot, r *release.Revision) bool {
	return s.Name == r.Name && s.Namespace == r.Namespace && s.Version == r.Version
}

// observe updates the history with the records that an action has written: the newest
// is put in front if it is new, and those that have changed are replaced. action is
// that of the newest, changed that of the others.
func (p *pass) observe(written []*release.Revision, action, changed, ociDigest string) error {
	history := slices.Clone(p.hr.Status.History)
	replaced := 0
	if action == string(flux.AttemptUpgrade) {
		replaced = p.replaced()
	}
	for n, r := range written {
		i := slices.IndexFunc(history, func(s flux.Snapshot) bool { return isOf(s, r) })
		if i < 0 && n > 0 {
			continue
		}
		as, from := action, ociDigest
		if i >= 0 {
			from = history[i].OCIDigest
		}
		if n > 0 {
			as = changed
		}
		next, err := snapshot(r, as, from)
		switch {
		case err != nil:
			return err
		case i < 0:
			history = slices.Insert(history, 0, next)
		case history[i].Digest != next.Digest, r.Version == replaced:
			next.TestHooks = history[i].TestHooks
			history[i] = next
		}
	}
	remedy, _ := p.hr.ActiveRemedy()
	p.hr.Status.History = limited(history, remedy.IgnoreTests)
	return nil
}

// limited returns at most the newest snapshots and the newest good one before them: tries that count
// as no attempt never end, and each adds a snapshot.
func limited(history []flux.Snapshot, ignoreTests bool) []flux.Snapshot {
	if len(history) <= most {
		return history
	}
	out := slices.Clone(history[:most])
	isGood := func(s flux.Snapshot) bool { return s.Good(ignoreTests) }
	if i := slices.IndexFunc(history[1:], isGood) + 1; i >= most {
		out = append(out, history[i])
	}
	return out
}

// replaced returns the revision that Helm takes an upgrade to replace, and writes again
// whether or not that succeeds: the deployed one, else the newest.
func (p *pass) replaced() int {
	before := release.NewHistory(p.input.Records)
	for _, r := range slices.Backward(before) {
		if r.Info.Status == release.StatusDeployed {
			return r.Version
		}
	}
	return before.Last().Version
}

// truncate keeps the newest snapshot and those down to the newest good one before it,
// for a rollback; all is set where there are no rollbacks.
func truncate(history []flux.Snapshot, ignoreTests, all bool) []flux.Snapshot {
	if len(history) < 2 {
		return history
	}
	for i, s := range history[1:] {
		if !all && s.Good(ignoreTests) {
			return history[:i+2]
		}
	}
	return history[:min(len(history), kept)]
}

// testHooks returns the outcomes of a revision's tests, by name. Those that the filters leave out are not
// among them, as in helm-controller 1.6.3 (internal/release/observation.go, TestHooksFromRelease), for
// which a test without an outcome is one that has yet to run.
func testHooks(r *release.Revision, t flux.Test) map[string]*flux.TestHook {
	out := map[string]*flux.TestHook{}
	for _, h := range r.Hooks {
		if !h.On(manifest.Test) || !t.Selects(h.Name) {
			continue
		}
		outcome := &flux.TestHook{Phase: string(h.LastRun.Phase)}
		if !h.LastRun.StartedAt.IsZero() {
			outcome.LastStarted = metav1.NewTime(h.LastRun.StartedAt).Rfc3339Copy()
		}
		if !h.LastRun.CompletedAt.IsZero() {
			outcome.LastCompleted = metav1.NewTime(h.LastRun.CompletedAt).Rfc3339Copy()
		}
		out[h.Name] = outcome
	}
	return out
}
