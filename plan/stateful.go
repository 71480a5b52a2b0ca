package plan

import (
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// changesState reports whether the step changes something that data depends on. For a StatefulSet
// with volumes only some fields count: changing others just restarts its pods.
func (s *Step) changesState() bool {
	gk := s.Object.GroupKind()
	if !kinds.Of(gk).Stateful {
		return false
	}
	c, _, changes := s.MostSevere()
	if gk != kinds.StatefulSet {
		return changes
	}
	return changes && s.HasVolumes() && s.severity(c) <= severityImage
}

// HasVolumes reports whether the step's object is a StatefulSet whose pods have volumes that
// outlive them.
func (s *Step) HasVolumes() bool {
	return len(dataVolumes(setOf(s.Before)))+len(dataVolumes(setOf(s.outcome()))) > 0
}

// movesData reports whether the step changes where data is mounted.
func (s *Step) movesData() bool {
	return !reflect.DeepEqual(dataMounts(setOf(s.Before)), dataMounts(setOf(s.outcome())))
}

func setOf(doc *unstructured.Unstructured) *appsv1.StatefulSet {
	var set appsv1.StatefulSet
	if doc == nil || !apitypes.Typed(doc, &set) {
		return &appsv1.StatefulSet{}
	}
	return &set
}

// dataVolumes returns the claims behind those volumes of a StatefulSet's pods that outlive the
// pods, by volume name.
func dataVolumes(set *appsv1.StatefulSet) map[string]string {
	out := map[string]string{}
	for _, v := range set.Spec.Template.Spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			out[v.Name] = v.PersistentVolumeClaim.ClaimName
		}
	}
	for _, t := range set.Spec.VolumeClaimTemplates {
		out[t.Name] = t.Name
	}
	return out
}

// dataMounts returns the mounted claims and sub-paths of a StatefulSet's pods, by container and
// mount path.
func dataMounts(set *appsv1.StatefulSet) map[string]string {
	volumes, out := dataVolumes(set), map[string]string{}
	pod := set.Spec.Template.Spec
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		for _, m := range c.VolumeMounts {
			if claim, ok := volumes[m.Name]; ok {
				out[c.Name+":"+m.MountPath] = strings.Join([]string{claim, m.SubPath, m.SubPathExpr}, "/")
			}
		}
	}
	return out
}
