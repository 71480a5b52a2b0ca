package fakenodes

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// GuardDeletions makes the API server refuse deletions of pods by the user kubelet unless somebody
// asked for them. A real kubelet completes the deletion of one pod, by its UID; kwok deletes only by
// name (deleteResource in sigs.k8s.io/kwok, pkg/kwok/controllers/pod_controller.go): when it is late
// it would delete a pod that was since created with the same name.
func GuardDeletions(ctx context.Context, client kubernetes.Interface, kubelet string) error {
	const name = "kubelets-only-end-deletions"
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Delete},
					Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
				},
			}}},
			MatchConditions: []admissionv1.MatchCondition{{Name: "kubelet", Expression: fmt.Sprintf("request.userInfo.username == %q", kubelet)}},
			Validations: []admissionv1.Validation{{
				Expression: "has(oldObject.metadata.deletionTimestamp)",
				Message:    "nobody has asked for the deletion of this pod",
			}},
		},
	}
	policies := client.AdmissionregistrationV1()
	if _, err := policies.ValidatingAdmissionPolicies().Create(ctx, policy, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create the policy of pod deletions: %w", err)
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        name,
			ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	}
	if _, err := policies.ValidatingAdmissionPolicyBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("bind the policy of pod deletions: %w", err)
	}
	return nil
}
