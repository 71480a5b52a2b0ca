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
