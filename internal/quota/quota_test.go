package quota_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-release/kubectl-release/internal/quota"
)

// Two pods, each with a sidecar, count with what their limits say where they request nothing; a quota of
// other pods does not count them.
func TestShortages(t *testing.T) {
	cpu := func(amount string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(amount)}
	}
	always := corev1.ContainerRestartPolicyAlways
	pods := quota.OfPods(&corev1.PodSpec{
		InitContainers: []corev1.Container{{RestartPolicy: &always, Resources: corev1.ResourceRequirements{Requests: cpu("250m")}}},
		Containers:     []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: cpu("1")}}},
	}, 2)
	for why, c := range map[string]struct {
		scope corev1.ResourceQuotaScope
		room  string
		want  string
	}{
		"room enough":        {"", "3", "[]"},
		"not enough":         {"", "2", "[requests.cpu: 500m of 2500m used, 2500m more needed, 2 left]"},
		"of pods that end":   {corev1.ResourceQuotaScopeTerminating, "2", "[]"},
		"of pods that ask":   {corev1.ResourceQuotaScopeNotBestEffort, "2", "[requests.cpu: 500m of 2500m used, 2500m more needed, 2 left]"},
		"of pods that don't": {corev1.ResourceQuotaScopeBestEffort, "2", "[]"},
	} {
		var q corev1.ResourceQuota
		if c.scope != "" {
			q.Spec.Scopes = []corev1.ResourceQuotaScope{c.scope}
		}
		limit := resource.MustParse(c.room)
		limit.Add(resource.MustParse("500m"))
		q.Status.Used = corev1.ResourceList{corev1.ResourceRequestsCPU: resource.MustParse("500m")}
		of := quota.New(&q, corev1.ResourceList{corev1.ResourceRequestsCPU: limit})
		if got := fmt.Sprint(of.Shortages(of.Counts(pods))); got != c.want {
			t.Errorf("%s: %s, want %s", why, got, c.want)
		}
	}
}

// What a pod requests as a whole counts instead of its containers; its limit as a whole counts only where no
// container requests anything, and always for huge pages.
func TestPodLevelResources(t *testing.T) {
	type amounts = map[corev1.ResourceName]string
	list := func(of amounts) corev1.ResourceList {
		out := corev1.ResourceList{}
		for name, amount := range of {
			out[name] = resource.MustParse(amount)
		}
		return out
	}
	const huge = corev1.ResourceHugePagesPrefix + "2Mi"
	for why, c := range map[string]struct {
		container corev1.ResourceRequirements
		pod       corev1.ResourceRequirements
		want      amounts
	}{
		"a limit, and a container that requests less": {
			corev1.ResourceRequirements{Requests: list(amounts{"cpu": "100m"})},
			corev1.ResourceRequirements{Limits: list(amounts{"cpu": "2"})},
			amounts{"requests.cpu": "300m", "cpu": "300m", "limits.cpu": "6"},
		},
		"a limit, and a container that requests another resource": {
			corev1.ResourceRequirements{Requests: list(amounts{"memory": "1Gi"})},
			corev1.ResourceRequirements{Limits: list(amounts{"cpu": "2"})},
			amounts{"requests.cpu": "6", "requests.memory": "3Gi", "limits.cpu": "6"},
		},
		"a limit, and a container with a limit": {
			corev1.ResourceRequirements{Limits: list(amounts{"cpu": "1"})},
			corev1.ResourceRequirements{Limits: list(amounts{"cpu": "2"})},
			amounts{"requests.cpu": "3", "limits.cpu": "6"},
		},
		"a request, a limit, and a container that requests less": {
			corev1.ResourceRequirements{Requests: list(amounts{"cpu": "100m"})},
			corev1.ResourceRequirements{Requests: list(amounts{"cpu": "1"}), Limits: list(amounts{"cpu": "2"})},
			amounts{"requests.cpu": "3", "limits.cpu": "6"},
		},
		"huge pages": {
			corev1.ResourceRequirements{Requests: list(amounts{huge: "2Mi"}), Limits: list(amounts{huge: "2Mi"})},
			corev1.ResourceRequirements{Limits: list(amounts{huge: "4Mi"})},
			amounts{"requests." + huge: "12Mi", "limits." + huge: "12Mi"},
		},
	} {
		got := quota.OfPods(&corev1.PodSpec{Containers: []corev1.Container{{Resources: c.container}}, Resources: &c.pod}, 3).Amounts
		for name, amount := range list(c.want) {
			if is := got[name]; is.Cmp(amount) != 0 {
				t.Errorf("%s: %s is %s, want %s", why, name, is.String(), amount.String())
			}
		}
	}
}
