package fakenodes

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// WaitUntilUsable returns when count nodes are ready for pods and the default
// namespace has what pods need: its service account and the CA certificate.
func WaitUntilUsable(ctx context.Context, client kubernetes.Interface, count int) error {
	missing := "the first look"
	err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		var err error
		missing, err = findMissing(ctx, client, count)
		return missing == "", err
	})
	if err != nil {
		return fmt.Errorf("wait for %s: %w", missing, err)
	}
	return nil
}

// findMissing returns a description of one thing that is not ready yet, or "".
func findMissing(ctx context.Context, client kubernetes.Interface, count int) (string, error) {
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return "the list of nodes", err
	}
	ready := 0
	for _, node := range nodes.Items {
		if isReady(node) {
			ready++
		}
	}
	if ready < count {
		return fmt.Sprintf("%d of %d nodes", count-ready, count), nil
	}
	if _, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{}); err != nil {
		return "the default service account", ignoreNotFound(err)
	}
	if _, err := client.CoreV1().ConfigMaps("default").Get(ctx, "kube-root-ca.crt", metav1.GetOptions{}); err != nil {
		return "the config map of the authority's certificate", ignoreNotFound(err)
	}
	return "", nil
}

// isReady reports whether pods can be scheduled to a node: the taint of new nodes is
// removed some time after the node has become ready.
func isReady(node corev1.Node) bool {
	if len(node.Spec.Taints) > 0 {
		return false
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
