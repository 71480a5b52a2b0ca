package clusterfake

import (
	"strconv"
	"sync/atomic"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// Clientset returns a fake for what uses typed clients: records and locks. Like an API
// server, it gives a Lease a new resourceVersion with each write.
func Clientset() *fake.Clientset {
	client, writes := fake.NewClientset(), atomic.Int64{}
	client.PrependReactor("*", "leases", func(action clienttesting.Action) (bool, runtime.Object, error) {
		written, ok := action.(interface{ GetObject() runtime.Object })
		if !ok {
			return false, nil, nil
		}
		lease := written.GetObject().(*coordinationv1.Lease)
		lease.ResourceVersion = strconv.FormatInt(writes.Add(1), 10)
		store := client.Tracker().Update
		if action.GetVerb() == "create" {
			store = func(resource schema.GroupVersionResource, o runtime.Object, namespace string, _ ...metav1.UpdateOptions) error {
				return client.Tracker().Create(resource, o, namespace)
			}
		}
		return true, lease, store(action.GetResource(), lease, action.GetNamespace())
	})
	return client
}
