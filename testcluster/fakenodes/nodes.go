// Package fakenodes makes nodes without machines: it creates Node objects for which
// kwok plays the kubelet, defines in stages how pods on them behave, and answers the
// API server's requests for pod logs.
//
// It does not run containers and does not start kwok.
package fakenodes

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Create creates count nodes, node-1 to node-N, whose kubelet is reached at port
// on the loopback address. Each offers CPU, memory, pods and ephemeral storage, and
// they are distributed over three zones.
func Create(ctx context.Context, client kubernetes.Interface, count int, port int32) error {
	for i := range count {
		node := newNode(i, port)
		// As a kubelet registers itself: a node is created with its status, unlike other kinds.
		if _, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create node %s: %w", node.Name, err)
		}
	}
	return nil
}

func newNode(index int, port int32) *corev1.Node {
	name := fmt.Sprintf("node-%d", index+1)
	offer := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("64"),
		corev1.ResourceMemory:           resource.MustParse("256Gi"),
		corev1.ResourcePods:             resource.MustParse("1000"),
		corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
			Labels: map[string]string{
				corev1.LabelHostname:       name,
				corev1.LabelOSStable:       "linux",
				corev1.LabelArchStable:     "amd64",
				corev1.LabelTopologyRegion: "testcluster",
				corev1.LabelTopologyZone:   fmt.Sprintf("testcluster-%c", 'a'+index%3),
			},
		},
		Status: corev1.NodeStatus{
			Capacity:    offer,
			Allocatable: offer,
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: "127.0.0.1"},
				{Type: corev1.NodeHostName, Address: name},
			},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: port}},
		},
	}
}
