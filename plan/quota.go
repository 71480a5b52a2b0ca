package plan

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/quota"
)

// roomier is the advice for an exceeded quota.
const roomier = "raise the quota (kubectl describe quota), or request less"

// A dry run checks quotas for a single object only. The code below sums up what the whole plan
// adds, before the first write.

// counted returns the namespaces whose quotas a first Build asks for: those where the plan changes
// what quotas count. The record alone is no reason: if there is no room for it, the run ends before
// it has written anything.
func (b *builder) counted() []string {
	if b.in.Quotas != nil || b.in.Against != nil {
		return nil
	}
	found := map[string]bool{}
	for _, stage := range b.plan.Stages {
		for _, wave := range stage.Waves {
			for i := range wave.Steps {
				s := &wave.Steps[i]
				if s.Op == OpRecord || s.Op == OpDelete || found[s.Object.Namespace] || b.namespaceMissing(s.Object.Namespace) {
					continue
				}
				if b.countsOtherwise(stage.Name, s) {
					found[s.Object.Namespace] = true
				}
			}
		}
	}
	records := b.in.Records.Namespace // may be elsewhere
	if len(found) > 0 && b.in.Records.Resource != "" && records != "" && b.plan.ToRevision != b.plan.FromRevision && !b.namespaceMissing(records) {
		found[records] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// countsOtherwise reports whether a step changes what quotas count, even if only while it runs.
func (b *builder) countsOtherwise(stage StageName, s *Step) bool {
	if sameSpec(s) && s.Object.GroupKind() != kinds.PersistentVolumeClaim { // its storage class may be an annotation
		r, replaces := b.rollout(s)
		return replaces && r.Most > r.Pods || b.maySurge(s)
	}
	g := b.growth(stage, s, map[manifest.ID]quota.Usage{})
	return !quota.Same(g.before.Amounts, g.after.Amounts) || !quota.Same(g.podsBefore.usage().Amounts, g.podsAfter.usage().Amounts) || g.surge.pods > 0 || b.maySurge(s)
}

// sameSpec reports whether the step is a patch that leaves the object's spec unchanged, on which
// most of what quotas count depends.
func sameSpec(s *Step) bool {
	after := s.outcome()
	return s.Op == OpPatch && s.Before != nil && after != nil && jsontree.Same(s.Before.Object["spec"], after.Object["spec"])
}

// checkQuotas blocks if a namespace has no room for the objects that the plan adds. If only the
// pods that controllers create for them don't fit, it warns: the run itself succeeds, but the
// rollout does not finish.
func (b *builder) checkQuotas() {
	if len(b.in.Quotas) == 0 {
		return
	}
	waves := b.growths()
	for _, o := range b.in.Quotas {
		var live corev1.ResourceQuota
		if !apitypes.Typed(o, &live) {
			continue
		}
		id := manifest.ID{Kind: kinds.ResourceQuota.Kind, Namespace: live.Namespace, Name: live.Name}
		q := quota.New(&live, b.limits(id, &live))
		most := mostAdded(q, waves)
		if short := q.Shortages(most); len(short) > 0 {
			what := "it has no room for all that this plan creates: " + strings.Join(short, "; ")
			if b.plan.ToRevision != b.plan.FromRevision && slices.ContainsFunc(short, func(s string) bool { return strings.HasPrefix(s, b.in.Records.Resource+":") }) {
				what += "; the release's record is one of them"
			}
			b.blockUnsent(Problem{Kind: ProblemQuota, Object: id, What: what, Do: roomier})
			continue
		}
		pods := podsAdded(q, waves)
		quota.Add(pods, most)
		if short := q.Shortages(pods); len(short) > 0 {
			b.warn(id, "it has no room for all the pods that controllers will create: "+strings.Join(short, "; "), roomier+"; until then the rollout does not finish")
			continue
		}
		quota.Add(pods, surges(q, waves))
		if short := q.Shortages(pods); len(short) > 0 {
			b.warn(id, "it has no room for the extra pods of a rollout: "+strings.Join(short, "; "), roomier+", or allow maxUnavailable; with maxUnavailable 0 a rollout waits for room")
		}
	}
}

// limits returns the quota's limits, or the ones that the plan itself sets: quotas are among the
// first objects written.
func (b *builder) limits(id manifest.ID, live *corev1.ResourceQuota) corev1.ResourceList {
	limits := live.Status.Hard
	b.plan.Steps(func(_ StageName, s *Step) {
		var planned corev1.ResourceQuota
		if s.Object == id && s.alters() && s.After != nil && apitypes.Typed(s.After, &planned) {
			limits = planned.Spec.Hard
		}
	})
	return limits
}

// mostAdded returns the most that the plan adds at any moment to what a quota counts. The order within a
// wave is not known, so what a wave frees counts only from the next wave onwards.
func mostAdded(q quota.Quota, waves [][]growth) corev1.ResourceList {
	now, most := corev1.ResourceList{}, corev1.ResourceList{}
	for _, wave := range waves {
		freed := corev1.ResourceList{}
		for _, g := range wave {
			if g.namespace != q.Namespace {
				continue
			}
			after := q.Counts(g.after)
			for name, amount := range quota.Less(after, q.Counts(g.before)) {
				if amount.Sign() > 0 {
					quota.Add(now, corev1.ResourceList{name: amount})
				} else {
					quota.Add(freed, corev1.ResourceList{name: amount})
				}
			}
			freed = quota.Less(freed, quota.Less(after, q.Counts(g.left)))
		}
		quota.Raise(most, now)
		quota.Add(now, freed)
	}
	return most
}

// podsAdded returns how much more the pods of controllers use at the end than at the beginning.
func podsAdded(q quota.Quota, waves [][]growth) corev1.ResourceList {
	total := corev1.ResourceList{}
	for _, g := range slices.Concat(waves...) {
		if g.namespace == q.Namespace {
			quota.Add(total, q.Counts(g.podsAfter.usage()))
			total = quota.Less(total, q.Counts(g.podsBefore.usage()))
		}
	}
	return total
}

// surges returns the most that the surge pods of simultaneous rollouts use.
func surges(q quota.Quota, waves [][]growth) corev1.ResourceList {
	most := corev1.ResourceList{}
	for _, wave := range waves {
		total := corev1.ResourceList{}
		for _, g := range wave {
			if g.namespace == q.Namespace {
				quota.Add(total, q.Counts(g.surge.usage()))
			}
		}
		quota.Raise(most, total)
	}
	return most
}
