package serverfields

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-release/kubectl-release/internal/objecttest"
)

// A dry run makes up what the real write will choose: the plan must not state it.
func TestStripServerAssigned(t *testing.T) {
	for name, c := range map[string]struct{ after, before, sent, want string }{
		"addresses and ports of a new Service are not known": {
			after: "apiVersion: v1\nkind: Service\nspec: {clusterIP: 10.96.0.0, clusterIPs: [10.96.0.0], healthCheckNodePort: 32770, ports: [{port: 80, nodePort: 32769}]}",
			sent:  "apiVersion: v1\nkind: Service\nspec: {ports: [{port: 80}]}",
			want:  "apiVersion: v1\nkind: Service\nspec: {ports: [{port: 80}]}",
		},
		"those that the chart asks for are": {
			after: "apiVersion: v1\nkind: Service\nspec: {clusterIP: None, clusterIPs: [10.96.0.9], ports: [{port: 80, nodePort: 30080}, {port: 81, nodePort: 32769}]}",
			sent:  "apiVersion: v1\nkind: Service\nspec: {clusterIP: None, clusterIPs: [10.96.0.9], ports: [{port: 80, nodePort: 30080}, {port: 81}]}",
			want:  "apiVersion: v1\nkind: Service\nspec: {clusterIP: None, clusterIPs: [10.96.0.9], ports: [{port: 80, nodePort: 30080}, {port: 81}]}",
		},
		"a Service keeps what it has, and gets a new port for its new type": {
			after:  "apiVersion: v1\nkind: Service\nspec: {clusterIP: 10.96.3.4, ports: [{port: 80, nodePort: 31000}, {port: 81, nodePort: 32769}]}",
			before: "apiVersion: v1\nkind: Service\nspec: {clusterIP: 10.96.3.4, ports: [{port: 80, nodePort: 31000}]}",
			sent:   "apiVersion: v1\nkind: Service\nspec: {ports: [{port: 80}, {port: 81}]}",
			want:   "apiVersion: v1\nkind: Service\nspec: {clusterIP: 10.96.3.4, ports: [{port: 80, nodePort: 31000}, {port: 81}]}",
		},
		"a custom resource called Service is somebody else's": {
			after: "apiVersion: serving.example.com/v1\nkind: Service\nspec: {clusterIP: 10.96.0.0}",
			want:  "apiVersion: serving.example.com/v1\nkind: Service\nspec: {clusterIP: 10.96.0.0}",
		},
		"a new Job's selector comes from its UID": {
			after: "apiVersion: batch/v1\nkind: Job\nmetadata: {name: once, uid: u-1, creationTimestamp: now}\nspec: {selector: {matchLabels: {controller-uid: u-1}}, template: {metadata: {labels: {controller-uid: u-1, job-name: once}}, spec: {nodeSelector: {}}}}",
			want:  "apiVersion: batch/v1\nkind: Job\nmetadata: {name: once}\nspec: {template: {metadata: {labels: {job-name: once}}, spec: {nodeSelector: {}}}}",
		},
		"that of one that is there stays": {
			after:  "apiVersion: batch/v1\nkind: Job\nmetadata: {name: once, uid: u-1}\nspec: {selector: {matchLabels: {controller-uid: u-1}}}",
			before: "apiVersion: batch/v1\nkind: Job\nmetadata: {name: once, uid: u-1}\nspec: {selector: {matchLabels: {controller-uid: u-1}}}",
			want:   "apiVersion: batch/v1\nkind: Job\nmetadata: {name: once, uid: u-1}\nspec: {selector: {matchLabels: {controller-uid: u-1}}}",
		},
		"the token volume of a new Pod has a random name": {
			after: "apiVersion: v1\nkind: Pod\nspec: {volumes: [{name: data}, {name: kube-api-access-x5fnd}], containers: [{name: a, volumeMounts: [{name: kube-api-access-x5fnd}]}, {name: b, volumeMounts: [{name: data}]}]}",
			want:  "apiVersion: v1\nkind: Pod\nspec: {volumes: [{name: data}], containers: [{name: a}, {name: b, volumeMounts: [{name: data}]}]}",
		},
		"where a Pod runs is the scheduler's choice": {
			after: "apiVersion: v1\nkind: Pod\nmetadata: {labels: {app: a, topology.kubernetes.io/zone: b}}\nspec: {nodeName: node-1, restartPolicy: Never}",
			want:  "apiVersion: v1\nkind: Pod\nmetadata: {labels: {app: a}}\nspec: {restartPolicy: Never}",
		},
		"which volume a claim gets is not known, unless it asks for one": {
			after: "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {annotations: {a: b, pv.kubernetes.io/bind-completed: 'yes'}}\nspec: {volumeName: pvc-1}",
			want:  "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {annotations: {a: b}}\nspec: {}",
		},
		"a claim for a volume is": {
			after: "apiVersion: v1\nkind: PersistentVolumeClaim\nspec: {volumeName: mine}",
			sent:  "apiVersion: v1\nkind: PersistentVolumeClaim\nspec: {volumeName: mine}",
			want:  "apiVersion: v1\nkind: PersistentVolumeClaim\nspec: {volumeName: mine}",
		},
		"that of one that is there stays, too": {
			after:  "apiVersion: v1\nkind: Pod\nspec: {volumes: [{name: kube-api-access-x5fnd}]}",
			before: "apiVersion: v1\nkind: Pod\nspec: {volumes: [{name: kube-api-access-x5fnd}]}",
			want:   "apiVersion: v1\nkind: Pod\nspec: {volumes: [{name: kube-api-access-x5fnd}]}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			after := objecttest.Parse(t, c.after)
			got := StripServerAssigned(after, objecttest.Parse(t, c.before), objecttest.Parse(t, c.sent))
			if diff := cmp.Diff(objecttest.Parse(t, c.want).Object, got.Object); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(objecttest.Parse(t, c.after).Object, after.Object); diff != "" {
				t.Errorf("the answer was changed:\n%s", diff)
			}
		})
	}
	if StripServerAssigned(nil, nil, nil) != nil {
		t.Error("nothing is foreseen of no answer")
	}
}
