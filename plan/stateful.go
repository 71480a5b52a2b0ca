package plan

import (
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// gravity orders changes of a spec by what depends on them, the gravest first.
type gravity int

const (
	// gravestClaims: which volumes there are, how large, and how long they live.
	gravestClaims gravity = iota
	// gravestIdentity: which pods belong to it, and their names in the network.
	gravestIdentity
	// gravestMounts: which data is seen where.
	gravestMounts
	gravestImage
	gravestEnvironment
	gravestRest
	// gravestChecksum: labels and annotations of the pod template, and numbers.
	gravestChecksum
)

// changesState says whether the step changes what data depends on. That of a
// StatefulSet with volumes does not depend on every field: a change of others restarts
// its pods, and no more.
func (s *Step) changesState() bool {
	gk := s.Object.GroupKind()
	if !kinds.Of(gk).Stateful {
		return false
	}
	c, _, changes := s.Gravest()
	if gk != kinds.StatefulSet {
		return changes
	}
	return changes && s.HasVolumes() && s.gravity(c) <= gravestImage
}

// HasVolumes says of a StatefulSet whether its pods have volumes that outlive them.
func (s *Step) HasVolumes() bool {
	return len(dataVolumes(setOf(s.Before)))+len(dataVolumes(setOf(s.outcome()))) > 0
}

// Gravest is the change of the object's spec that a reviewer should see first, and how
// many others there are; ok is false when the spec does not change.
func (s *Step) Gravest() (gravest Change, others int, ok bool) {
	var changes []Change
	for _, c := range s.Changes {
		if within(c.Path, "spec") {
			changes = append(changes, c)
		}
	}
	if len(changes) == 0 {
		return Change{}, 0, false
	}
	gravest = slices.MinFunc(changes, func(a, b Change) int { return int(s.gravity(a) - s.gravity(b)) })
	return gravest, len(changes) - 1, true
}

// gravity is that of one change of a workload's spec.
func (s *Step) gravity(c Change) gravity {
	parts := jsontree.SplitPath(c.Path)
	has := func(names ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(names, part) })
	}
	switch {
	case has("volumeClaimTemplates", "persistentVolumeClaimRetentionPolicy"):
		return gravestClaims
	case has("serviceName", "podManagementPolicy"), within(c.Path, "spec.selector"):
		return gravestIdentity
	case within(c.Path, "spec.template.metadata"), !within(c.Path, "spec.template"):
		return gravestChecksum
	case has("volumeMounts", "volumes") && s.movesData():
		return gravestMounts
	case parts[len(parts)-1] == "image", isContainer(parts):
		return gravestImage
	case has("env", "envFrom", "command", "args"):
		return gravestEnvironment
	}
	return gravestRest
}

// isContainer says whether a whole container comes or goes, and an image with it.
func isContainer(parts []string) bool {
	return len(parts) > 1 && slices.Contains([]string{"containers", "initContainers"}, parts[len(parts)-2])
}

// movesData says whether data is mounted elsewhere than before.
func (s *Step) movesData() bool {
	return !reflect.DeepEqual(dataMounts(setOf(s.Before)), dataMounts(setOf(s.outcome())))
}

func setOf(doc *unstructured.Unstructured) *appsv1.StatefulSet {
	var set appsv1.StatefulSet
	if doc == nil || !typed(doc, &set) {
		return &appsv1.StatefulSet{}
	}
	return &set
}

// dataVolumes are the volumes of a StatefulSet's pods that outlive them, by name, and
// the claims that they are of.
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

// dataMounts are where a StatefulSet's pods see their data: the path of each claim, by
// container and mount path.
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
