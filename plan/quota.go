package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
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
	return slices.Sorted(maps.Keys(found))
}

// countsOtherwise reports whether a step changes what quotas count, even if only while it runs.
func (b *builder) countsOtherwise(stage StageName, s *Step) bool {
	if sameSpec(s) && s.Object.GroupKind() != kinds.PersistentVolumeClaim { // its storage class may be an annotation
		r, replaces := b.rollout(s)
		return replaces && r.Most > r.Pods || b.maySurge(s)
	}
	g := b.growth(stage, s, map[manifest.ID]usage{})
	return !same(g.before.amounts, g.after.amounts) || !same(g.podsBefore.amounts(), g.podsAfter.amounts()) || g.surge.pods > 0 || b.maySurge(s)
}

// sameSpec reports whether the step is a patch that leaves the object's spec unchanged, on which
// most of what quotas count depends.
func sameSpec(s *Step) bool {
	after := cmp.Or(s.After, s.Body)
	return s.Op == OpPatch && s.Before != nil && after != nil && jsontree.Same(s.Before.Object["spec"], after.Object["spec"])
}

func same(a, b corev1.ResourceList) bool {
	return maps.EqualFunc(less(a, b), less(b, a), func(x, y resource.Quantity) bool { return x.Sign() == 0 && y.Sign() == 0 })
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
		var quota corev1.ResourceQuota
		if !typed(o, &quota) {
			continue
		}
		id := manifest.ID{Kind: kinds.ResourceQuota.Kind, Namespace: quota.Namespace, Name: quota.Name}
		q := quotaOf(&quota, b.limits(id, &quota))
		most := q.most(waves)
		if short := q.shortages(most); len(short) > 0 {
			what := "it has no room for all that this plan creates: " + strings.Join(short, "; ")
			if b.plan.ToRevision != b.plan.FromRevision && slices.ContainsFunc(short, func(s string) bool { return strings.HasPrefix(s, b.in.Records.Resource+":") }) {
				what += "; the release's record is one of them"
			}
			b.blockUnsent(Problem{Kind: ProblemQuota, Object: id, What: what, Do: roomier})
			continue
		}
		pods := q.pods(waves)
		add(pods, most)
		if short := q.shortages(pods); len(short) > 0 {
			b.warn(id, "it has no room for all the pods that controllers will create: "+strings.Join(short, "; "), roomier+"; until then the rollout does not finish")
			continue
		}
		add(pods, q.surges(waves))
		if short := q.shortages(pods); len(short) > 0 {
			b.warn(id, "it has no room for the extra pods of a rollout: "+strings.Join(short, "; "), roomier+", or allow maxUnavailable; with maxUnavailable 0 a rollout waits for room")
		}
	}
}

// limits returns the quota's limits, or the ones that the plan itself sets: quotas are among the
// first objects written.
func (b *builder) limits(id manifest.ID, live *corev1.ResourceQuota) corev1.ResourceList {
	limits := live.Status.Hard
	b.plan.Steps(func(_ StageName, s *Step) {
		var quota corev1.ResourceQuota
		if s.Object == id && s.alters() && s.After != nil && typed(s.After, &quota) {
			limits = quota.Spec.Hard
		}
	})
	return limits
}

// quota is a ResourceQuota as the quota admission plugin sees it.
type quota struct {
	namespace    string
	limits, used corev1.ResourceList
	scopes       []corev1.ScopedResourceSelectorRequirement
}

func quotaOf(q *corev1.ResourceQuota, limits corev1.ResourceList) quota {
	out := quota{namespace: q.Namespace, limits: limits, used: q.Status.Used}
	for _, scope := range q.Spec.Scopes {
		out.scopes = append(out.scopes, corev1.ScopedResourceSelectorRequirement{ScopeName: scope, Operator: corev1.ScopeSelectorOpExists})
	}
	if q.Spec.ScopeSelector != nil {
		out.scopes = append(out.scopes, q.Spec.ScopeSelector.MatchExpressions...)
	}
	return out
}

// most returns the most that the plan adds at any moment. The order within a wave is not known, so
// what a wave frees counts only from the next wave onwards.
func (q quota) most(waves [][]growth) corev1.ResourceList {
	now, most := corev1.ResourceList{}, corev1.ResourceList{}
	for _, wave := range waves {
		freed := corev1.ResourceList{}
		for _, g := range wave {
			if g.namespace != q.namespace {
				continue
			}
			after := q.counts(g.after)
			for name, amount := range less(after, q.counts(g.before)) {
				if amount.Sign() > 0 {
					add(now, corev1.ResourceList{name: amount})
				} else {
					add(freed, corev1.ResourceList{name: amount})
				}
			}
			freed = less(freed, less(after, q.counts(g.left)))
		}
		raise(most, now)
		add(now, freed)
	}
	return most
}

// pods returns how much more the pods of controllers use at the end than at the beginning.
func (q quota) pods(waves [][]growth) corev1.ResourceList {
	total := corev1.ResourceList{}
	for _, g := range slices.Concat(waves...) {
		if g.namespace == q.namespace {
			add(total, q.counts(usage{amounts: g.podsAfter.amounts(), pod: g.podsAfter.spec}))
			total = less(total, q.counts(usage{amounts: g.podsBefore.amounts(), pod: g.podsBefore.spec}))
		}
	}
	return total
}

// surges returns the most that the surge pods of simultaneous rollouts use.
func (q quota) surges(waves [][]growth) corev1.ResourceList {
	most := corev1.ResourceList{}
	for _, wave := range waves {
		total := corev1.ResourceList{}
		for _, g := range wave {
			if g.namespace == q.namespace {
				add(total, q.counts(usage{amounts: g.surge.amounts(), pod: g.surge.spec}))
			}
		}
		raise(most, total)
	}
	return most
}

// counts returns the part of an object's usage that this quota limits: nothing if the object is
// outside its scopes.
func (q quota) counts(u usage) corev1.ResourceList {
	for _, scope := range q.scopes {
		if u.pod == nil || !inScope(scope, u.pod) {
			return nil
		}
	}
	out := corev1.ResourceList{}
	for name, amount := range u.amounts {
		if _, limited := q.limits[name]; limited {
			out[name] = amount
		}
	}
	return out
}

// shortages describes each limit that is exceeded, ordered by name.
func (q quota) shortages(added corev1.ResourceList) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(added)) {
		more, limit, used := added[name], q.limits[name], q.used[name]
		left := limit.DeepCopy()
		left.Sub(used)
		if more.Sign() <= 0 || more.Cmp(left) <= 0 {
			continue
		}
		if left.Sign() < 0 {
			left = resource.Quantity{}
		}
		out = append(out, fmt.Sprintf("%s: %s of %s used, %s more needed, %s left", name, used.String(), limit.String(), more.String(), left.String()))
	}
	return out
}
