package cluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// A state that does not pass on its own is trouble, which waits report within seconds; the stages
// that every pod goes through before it is ready are not.
func TestTroubleIsMoreThanAStageOnTheWay(t *testing.T) {
	waiting := func(reason string) corev1.PodStatus {
		state := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}
		return corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{Name: "web", State: state}}}
	}
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	for cause, c := range map[string]struct {
		status  corev1.PodStatus
		trouble bool
	}{
		"container web is waiting: CrashLoopBackOff":           {waiting("CrashLoopBackOff"), true},
		"container web is waiting: ErrImagePull":               {waiting("ErrImagePull"), true},
		"container web is waiting: ImagePullBackOff":           {waiting("ImagePullBackOff"), true},
		"container web is waiting: CreateContainerConfigError": {waiting("CreateContainerConfigError"), true},
		"FailedScheduling: 0/3 nodes are available": {corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available"},
		}}, true},
		"container web ended with exit code 1":        {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "web", State: ended}}}, true},
		"it has failed: Evicted no memory":            {corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "no memory"}, true},
		"container web is waiting: ContainerCreating": {waiting("ContainerCreating"), false},
		"container web is waiting: PodInitializing":   {waiting("PodInitializing"), false},
		"container web is running but not ready":      {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "web", State: running}}}, false},
		"it is pending":                               {corev1.PodStatus{Phase: corev1.PodPending}, false},
	} {
		got := podStates(corev1.Pod{Status: c.status})
		if len(got) != 1 || got[0].Cause != cause || got[0].Trouble != c.trouble {
			t.Errorf("%s: got %+v, want trouble %t", cause, got, c.trouble)
		}
	}
}
