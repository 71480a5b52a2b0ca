package plan

import (
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// Rollout says what replacing the pods means for a Deployment or StatefulSet while it lasts,
// according to its update strategy. DaemonSets are not covered: what runs meanwhile depends on the
// nodes.
type Rollout struct {
	Object manifest.ID `json:"object"`
	// Before is the number of pods when the rollout begins: a StatefulSet that shrinks does so first.
	Before int64 `json:"before"`
	// Pods is the number of pods afterwards, Least the fewest that are available at any time during
	// the rollout, and Most the most that exist at the same time.
	Pods  int64 `json:"pods"`
	Least int64 `json:"least"`
	Most  int64 `json:"most"`
	// Budgets are the release's PodDisruptionBudgets that require more available pods than Least.
	Budgets []Budget `json:"budgets,omitempty"`
}

// Budget is the number of available pods that a PodDisruptionBudget requires. Evictions respect it,
// rollouts do not.
type Budget struct {
	Name  string `json:"name"`
	Wants int64  `json:"wants"`
}

// rollout returns the rollout of a step that replaces pods.
func (b *builder) rollout(s *Step) (Rollout, bool) {
	if !s.Restarts() {
		return Rollout{}, false
	}
	return b.replaced(s)
}

// maySurge reports whether a patch whose outcome is unknown may temporarily run more pods than
// there are afterwards.
func (b *builder) maySurge(s *Step) bool {
	if s.Op != OpPatch || s.After != nil || s.Body == nil || !kinds.Of(s.Object.GroupKind()).RollsOut {
		return false
	}
	if sent, known := b.storedObject(s.Object); known {
		before, _, _ := unstructured.NestedMap(sent.Latest().Doc.Object, "spec", "template")
		after, _, _ := unstructured.NestedMap(s.Body.Object, "spec", "template")
		if reflect.DeepEqual(before, after) {
			return false
		}
	}
	r, ok := b.replaced(s)
	return ok && r.Most > r.Pods
}

// replaced returns the rollout of a step, assuming that it replaces pods.
func (b *builder) replaced(s *Step) (Rollout, bool) {
	was := workloadOf(s.Object, s.Before, 1).pods
	doc := s.outcome()
	pods := workloadOf(s.Object, doc, was).pods
	r := Rollout{Object: s.Object, Before: was, Pods: pods, Most: pods}
	switch {
	case pods == 0:
		return Rollout{}, false
	case s.deletesPods(): // its pods are deleted with it
	case s.Object.GroupKind() == kinds.Deployment:
		r.Least, r.Most = deploymentRollout(doc, pods)
	case s.Object.GroupKind() == kinds.StatefulSet:
		r.Before, r.Least = min(was, pods), statefulRollout(doc, pods)
		if r.Least == pods {
			return Rollout{}, false
		}
	default:
		return Rollout{}, false
	}
	r.Budgets = b.budgets(s.Object.Namespace, doc, r)
	return r, true
}

// deploymentRollout returns the least number of available pods and the highest number of pods
// during a Deployment's rollout (Kubernetes 1.36, pkg/controller/deployment/util,
// ResolveFenceposts).
func deploymentRollout(doc *unstructured.Unstructured, pods int64) (least, most int64) {
	var d appsv1.Deployment
	if !apitypes.Typed(doc, &d) || d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		return 0, pods
	}
	quarter := intstr.FromString("25%")
	surge, unavailable := &quarter, &quarter
	if of := d.Spec.Strategy.RollingUpdate; of != nil {
		if of.MaxSurge != nil {
			surge = of.MaxSurge
		}
		if of.MaxUnavailable != nil {
			unavailable = of.MaxUnavailable
		}
	}
	more, fewer := scaled(surge, pods, true), scaled(unavailable, pods, false)
	if more == 0 && fewer == 0 {
		fewer = 1
	}
	return max(pods-fewer, 0), pods + more
}

// statefulRollout returns the least number of available pods during a StatefulSet's rollout: each
// pod is deleted before its successor is created, but after those that are too many (Kubernetes 1.36,
// pkg/controller/statefulset/stateful_set_control.go, updateStatefulSet).
func statefulRollout(doc *unstructured.Unstructured, pods int64) int64 {
	var s appsv1.StatefulSet
	if !apitypes.Typed(doc, &s) {
		return pods
	}
	fewer := int64(1)
	if of := s.Spec.UpdateStrategy.RollingUpdate; of != nil {
		if of.Partition != nil && int64(*of.Partition) >= pods {
			return pods
		}
		if of.MaxUnavailable != nil {
			fewer = max(scaled(of.MaxUnavailable, pods, false), 1)
		}
	}
	return max(pods-fewer, 0)
}

// scaled resolves a number or a percentage of the pods; 0 for anything else, which the API server
// refuses.
func scaled(v *intstr.IntOrString, pods int64, up bool) int64 {
	n, err := intstr.GetScaledValueFromIntOrPercent(v, int(pods), up)
	if err != nil {
		return 0
	}
	return int64(n)
}

// budgets returns the release's PodDisruptionBudgets that select a workload's pods and require more
// available pods than its rollout leaves.
func (b *builder) budgets(namespace string, workload *unstructured.Unstructured, r Rollout) []Budget {
	template, _, _ := unstructured.NestedStringMap(workload.Object, "spec", "template", "metadata", "labels")
	var out []Budget
	for _, budget := range b.disruptionBudgets() {
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err != nil || budget.Namespace != namespace || !selector.Matches(labels.Set(template)) {
			continue
		}
		if wants := wanted(budget.Spec, r.Pods); wants > r.Least {
			out = append(out, Budget{Name: budget.Name, Wants: wants})
		}
	}
	return out
}

// disruptionBudgets returns the release's PodDisruptionBudgets as they are after the plan, and
// caches them.
func (b *builder) disruptionBudgets() []policyv1.PodDisruptionBudget {
	if b.disruptions != nil {
		return b.disruptions
	}
	b.disruptions = []policyv1.PodDisruptionBudget{}
	b.plan.Steps(func(_ StageName, s *Step) {
		if s.Object.GroupKind() != kinds.PodDisruptionBudget || s.Op == OpDelete || s.Op == OpWait || s.Hook != nil {
			return
		}
		doc := s.outcome()
		if doc == nil {
			doc = b.live(s.Object).Object
		}
		var budget policyv1.PodDisruptionBudget
		if doc != nil && apitypes.Typed(doc, &budget) {
			budget.Namespace = s.Object.Namespace
			b.disruptions = append(b.disruptions, budget)
		}
	})
	return b.disruptions
}

// wanted returns how many of the pods a budget requires to be available (Kubernetes 1.36,
// pkg/controller/disruption, getExpectedPodCount).
func wanted(spec policyv1.PodDisruptionBudgetSpec, pods int64) int64 {
	switch {
	case spec.MaxUnavailable != nil:
		return max(pods-scaled(spec.MaxUnavailable, pods, true), 0)
	case spec.MinAvailable != nil:
		return scaled(spec.MinAvailable, pods, true)
	}
	return 0
}

// runsHooks reports whether the plan runs hooks.
func (b *builder) runsHooks() bool {
	found := false
	b.plan.Steps(func(_ StageName, s *Step) { found = found || s.Op == OpRun })
	return found
}
