package immutable

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/objecttest"
)

// Each case: why, live, target, the paths that are refused.
func TestImmutable(t *testing.T) {
	head := func(apiVersion, kind, rest string) string {
		return "{apiVersion: " + apiVersion + ", kind: " + kind + ", metadata: {name: x}, " + rest + "}"
	}
	cases := []struct{ why, apiVersion, kind, live, target, want string }{
		{"a selector that is the same in other words", "apps/v1", "Deployment", "spec: {selector: {matchLabels: {a: b}}, replicas: 2}", "spec: {selector: {matchLabels: {a: b}}, replicas: 3}", ""},
		{"a changed selector", "apps/v1", "Deployment", "spec: {selector: {matchLabels: {a: b}}}", "spec: {selector: {matchLabels: {a: c}}}", "spec.selector"},
		{"a selector with one label less", "apps/v1", "DaemonSet", "spec: {selector: {matchLabels: {a: b, c: d}}}", "spec: {selector: {matchLabels: {a: b}}}", "spec.selector"},
		{"what a StatefulSet may change", "apps/v1", "StatefulSet", "spec: {replicas: 1, template: {spec: {containers: [{name: a, image: 'a:1'}]}}}", "spec: {replicas: 2, template: {spec: {containers: [{name: a, image: 'a:2'}]}}, minReadySeconds: 3}", ""},
		{"claim templates that only lack the server's defaults", "apps/v1", "StatefulSet", "spec: {volumeClaimTemplates: [{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: d, creationTimestamp: null}, spec: {resources: {requests: {storage: 1Gi}}, volumeMode: Filesystem}, status: {phase: Pending}}]}", "spec: {volumeClaimTemplates: [{metadata: {name: d}, spec: {resources: {requests: {storage: 1024Mi}}}}]}", ""},
		{"a bigger claim template and another service", "apps/v1", "StatefulSet", "spec: {serviceName: a, volumeClaimTemplates: [{metadata: {name: d}, spec: {resources: {requests: {storage: 1Gi}}}}]}", "spec: {serviceName: b, volumeClaimTemplates: [{metadata: {name: d}, spec: {resources: {requests: {storage: 2Gi}}}}]}", "spec.serviceName spec.volumeClaimTemplates[d].spec.resources.requests.storage"},
		{"a Job's template against its defaulted live one", "batch/v1", "Job", "spec: {template: {metadata: {labels: {controller-uid: u}}, spec: {restartPolicy: Never, containers: [{name: a, image: 'a:1', imagePullPolicy: Always}]}}}", "spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: 'a:1'}]}}}", ""},
		{"a Job's new image", "batch/v1", "Job", "spec: {template: {spec: {containers: [{name: a, image: 'a:1'}]}}}", "spec: {template: {spec: {containers: [{name: a, image: 'a:2'}]}}}", "spec.template"},
		{"a Job's completions", "batch/v1", "Job", "spec: {completions: 1}", "spec: {completions: 2}", "spec.completions"},
		{"an Indexed Job's completions and parallelism", "batch/v1", "Job", "spec: {completions: 1, parallelism: 1, completionMode: Indexed}", "spec: {completions: 2, parallelism: 2, completionMode: Indexed}", ""},
		{"an Indexed Job's completions alone", "batch/v1", "Job", "spec: {completions: 1, parallelism: 1, completionMode: Indexed}", "spec: {completions: 2, parallelism: 1, completionMode: Indexed}", "spec.completions"},
		{"an Indexed Job's completions, the parallelism being the server's", "batch/v1", "Job", "spec: {completions: 2, parallelism: 1, completionMode: Indexed}", "spec: {completions: 1, completionMode: Indexed}", ""},
		{"which pods a Job replaces", "batch/v1", "Job", "spec: {podReplacementPolicy: Failed}", "spec: {podReplacementPolicy: TerminatingOrFailed}", ""},
		{"cluster IPs in the wrong field", "v1", "Service", "spec: {clusterIP: [10.0.0.1]}", "spec: {clusterIP: [10.0.0.2]}", "spec.clusterIP"},
		{"a cluster IP left to the server", "v1", "Service", "spec: {clusterIP: 10.0.0.1}", "spec: {clusterIP: ''}", ""},
		{"another cluster IP", "v1", "Service", "spec: {clusterIP: 10.0.0.1}", "spec: {clusterIP: 10.0.0.2}", "spec.clusterIP"},
		{"headless, still headless", "v1", "Service", "spec: {clusterIP: None}", "spec: {clusterIP: None}", ""},
		{"to headless", "v1", "Service", "spec: {clusterIP: 10.0.0.1}", "spec: {clusterIP: None}", "spec.clusterIP"},
		{"an external name has no address to keep", "v1", "Service", "spec: {type: ExternalName, clusterIP: ''}", "spec: {type: ClusterIP, clusterIP: None}", ""},
		{"a claim that grows", "v1", "PersistentVolumeClaim", "spec: {volumeName: v, volumeMode: Filesystem, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}", "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}}}", ""},
		{"a claim that shrinks and moves", "v1", "PersistentVolumeClaim", "spec: {storageClassName: a, resources: {requests: {storage: 2Gi}}}", "spec: {storageClassName: b, resources: {requests: {storage: 1Gi}}}", "spec.resources.requests.storage spec.storageClassName"},
		{"a bound claim that shrinks to its capacity", "v1", "PersistentVolumeClaim", "spec: {resources: {requests: {storage: 2Gi}}}, status: {phase: Bound, capacity: {storage: 1Gi}}", "spec: {resources: {requests: {storage: 1Gi}}}", "spec.resources.requests.storage"},
		{"a bound claim whose expansion is taken back in part", "v1", "PersistentVolumeClaim", "spec: {resources: {requests: {storage: 5Gi}}}, status: {phase: Bound, capacity: {storage: 1Gi}}", "spec: {resources: {requests: {storage: 2Gi}}}", ""},
		{"a volume's source", "v1", "PersistentVolume", "spec: {capacity: {storage: 1Gi}, nfs: {server: a, path: /}}", "spec: {capacity: {storage: 2Gi}, nfs: {server: b, path: /}}", "spec.nfs.server"},
		{"a sealed ConfigMap with other data", "v1", "ConfigMap", "immutable: true, data: {a: '1'}", "immutable: true, data: {a: '2'}", "data"},
		{"a sealed Secret with the same data as stringData", "v1", "Secret", "immutable: true, data: {a: MQ==}", "immutable: true, stringData: {a: '1'}", ""},
		{"a sealed Secret that is unsealed", "v1", "Secret", "immutable: true, data: {a: MQ==}", "data: {a: MQ==}", "immutable"},
		{"a Secret's type, left out and given", "v1", "Secret", "type: Opaque, data: {}", "type: kubernetes.io/tls", "type"},
		{"a binding's role", "rbac.authorization.k8s.io/v1", "RoleBinding", "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: a}", "roleRef: {kind: Role, name: b}", "roleRef"},
		{"a binding's role without its group", "rbac.authorization.k8s.io/v1", "RoleBinding", "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: a}", "roleRef: {kind: Role, name: a}", ""},
		{"a storage class's parameters", "storage.k8s.io/v1", "StorageClass", "provisioner: p, parameters: {a: b, c: d}", "provisioner: p, parameters: {a: b}", "parameters"},
		{"an ingress class's controller", "networking.k8s.io/v1", "IngressClass", "spec: {controller: a/b}", "spec: {controller: a/c}", "spec.controller"},
		{"a priority's value", "scheduling.k8s.io/v1", "PriorityClass", "value: 1", "value: 2", "value"},
		{"a pod's image, and what the server added", "v1", "Pod", "spec: {nodeName: n, containers: [{name: a, image: 'a:1', imagePullPolicy: Always}], volumes: [{name: token}]}", "spec: {containers: [{name: a, image: 'a:2'}]}", ""},
		{"a pod's variables and node", "v1", "Pod", "spec: {nodeName: n, containers: [{name: a, env: [{name: A, value: '1'}]}]}", "spec: {nodeName: m, containers: [{name: a, env: [{name: A, value: '2'}]}]}", "spec.containers[a].env spec.nodeName"},
		{"the scope of a definition", "apiextensions.k8s.io/v1", "CustomResourceDefinition", "spec: {scope: Cluster}", "spec: {scope: Namespaced}", "spec.scope"},
		{"a namesake of another group", "example.com/v1", "Job", "spec: {completions: 1}", "spec: {completions: 2}", ""},
	}
	for _, c := range cases {
		t.Run(c.why, func(t *testing.T) {
			live, target := objecttest.Parse(t, head(c.apiVersion, c.kind, c.live)), objecttest.Parse(t, head(c.apiVersion, c.kind, c.target))
			var got []string
			for _, f := range Predict(live, target) {
				got = append(got, f.Path)
				if !strings.Contains(f.Why, " ") {
					t.Errorf("%s does not say why", f.Path)
				}
			}
			if diff := cmp.Diff(strings.Fields(c.want), got); diff != "" && strings.Join(got, " ") != c.want {
				t.Errorf("paths (-want +got):\n%s", diff)
			}
		})
	}
}

// What a merge leaves of an object that is sealed counts, not what the chart says of it.
func TestSealedByHand(t *testing.T) {
	object := func(rest string) *unstructured.Unstructured {
		return objecttest.Parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, "+rest+"}")
	}
	live := object("immutable: true, data: {a: '1', added: by-hand}")
	for why, c := range map[string]struct{ target, after, want string }{
		"left alone":                             {"data: {a: '1'}", "immutable: true, data: {a: '1', added: by-hand}", ""},
		"changed":                                {"data: {a: '2'}", "immutable: true, data: {a: '2', added: by-hand}", "data"},
		"unsealed":                               {"immutable: false, data: {a: '1'}", "immutable: false, data: {a: '1', added: by-hand}", "immutable"},
		"not sealed any more, and without a key": {"data: {a: '1'}", "data: {a: '1'}", "immutable data"},
	} {
		var got []string
		for _, f := range PredictChange(live, object(c.target), object(c.after)) {
			got = append(got, f.Path)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", why, got, c.want)
		}
	}
}

// What the API server calls immutable as a whole is named field by field, and none of
// its own defaults is among them.
func TestNarrowImmutable(t *testing.T) {
	set := func(spec string) string {
		return "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {" + spec + "}}"
	}
	const live = "replicas: 1, podManagementPolicy: Parallel, serviceName: db, volumeClaimTemplates: [{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, " +
		"spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 1Gi}}, volumeMode: Filesystem}, status: {phase: Pending}}]"
	claims := func(text string) string {
		return "replicas: 2, podManagementPolicy: Parallel, serviceName: db, volumeClaimTemplates: [" + text + "]"
	}
	for why, c := range map[string]struct{ after, want string }{
		"a size": {
			claims("{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 2Gi}}}}"),
			"spec.volumeClaimTemplates[data].spec.resources.requests.storage",
		},
		"a class that is dropped": {
			claims("{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}"),
			"spec.volumeClaimTemplates[data].spec.storageClassName",
		},
		"a label": {
			claims("{metadata: {name: data, labels: {a: b}}, spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 1Gi}}}}"),
			"spec.volumeClaimTemplates[data].metadata.labels.a",
		},
		"a template more": {
			claims("{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 1Gi}}}}, {metadata: {name: logs}}"),
			"spec.volumeClaimTemplates[logs]",
		},
		"all templates":              {"replicas: 2, podManagementPolicy: Parallel, serviceName: db", "spec.volumeClaimTemplates[data]"},
		"another service and policy": {"replicas: 2, serviceName: other", "spec.podManagementPolicy spec.serviceName spec.volumeClaimTemplates[data]"},
		"nothing that is known":      {live, "spec"},
	} {
		t.Run(why, func(t *testing.T) {
			got := Narrow([]string{"spec"}, objecttest.Parse(t, set(live)), objecttest.Parse(t, set(c.after)))
			if diff := cmp.Diff(strings.Fields(c.want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The API server's own words, as Kubernetes 1.36 says them.
func TestImmutableFromStatus(t *testing.T) {
	cause := func(field, message string) *metav1.StatusDetails {
		return &metav1.StatusDetails{Causes: []metav1.StatusCause{{Field: field, Message: message}}}
	}
	cases := []struct {
		why    string
		status metav1.Status
		want   string
	}{
		{"a selector", metav1.Status{Code: 422, Details: cause("spec.selector", `Invalid value: {"matchLabels":{"a":"b"}}: field is immutable`)}, "spec.selector"},
		{"a StatefulSet", metav1.Status{Code: 422, Details: cause("spec", "Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template' are forbidden")}, "spec"},
		{"a cluster IP", metav1.Status{Code: 422, Details: cause("spec.clusterIPs[0]", `Invalid value: ["10.0.0.2"]: may not change once set`)}, "spec.clusterIPs[0]"},
		{"a sealed map", metav1.Status{Code: 422, Details: cause("data", "Forbidden: field is immutable when `immutable` is set")}, "data"},
		{"a binding", metav1.Status{Code: 422, Details: cause("roleRef", `Invalid value: {}: cannot change roleRef`)}, "roleRef"},
		{"a pod", metav1.Status{Code: 422, Details: cause("spec", "Forbidden: pod updates may not change fields other than `spec.containers[*].image`")}, "spec"},
		{"a claim that shrinks", metav1.Status{Code: 422, Details: cause("spec.resources.requests.storage", "Forbidden: field can not be less than status.capacity")}, "spec.resources.requests.storage"},
		{"a claim that shrinks, before Kubernetes 1.32", metav1.Status{Code: 422, Details: cause("spec.resources.requests.storage", "Forbidden: field can not be less than previous value")}, "spec.resources.requests.storage"},
		{"no details, a message alone", metav1.Status{Code: 422, Message: `Job.batch "j" is invalid: spec.template: Invalid value: {}: field is immutable`}, "spec.template"},
		{"another refusal", metav1.Status{Code: 422, Details: cause("spec.replicas", "Invalid value: -1: must be greater than or equal to 0")}, ""},
		{"a missing right", metav1.Status{Code: 403, Message: `deployments.apps "x" is forbidden: User "u" cannot patch resource`}, ""},
		{"a missing right, and an object with such a name", metav1.Status{Code: 403, Message: `configmaps "immutable-settings" is forbidden: User "u" cannot patch resource`}, ""},
		{"an invalid object with such a name", metav1.Status{Code: 422, Message: `Widget "immutable-settings" is invalid: spec.size: Required value`}, ""},
		{"a webhook about tags", metav1.Status{Code: 403, Message: `admission webhook "validation.gatekeeper.sh" denied the request: [tags] only immutable tags are allowed`}, ""},
		{"a policy about tags", metav1.Status{Code: 422, Details: cause("", `ValidatingAdmissionPolicy 'tags' with binding 'tags' denied request: only immutable tags are allowed`)}, ""},
		{"a webhook that validates as the API server does", metav1.Status{Code: 403, Message: `admission webhook "w.example.com" denied the request: spec.size: Invalid value: 2: field is immutable`}, "spec.size"},
		{"a conflict", metav1.Status{Code: 409, Message: "the object has been modified; the field is immutable"}, ""},
	}
	for _, c := range cases {
		t.Run(c.why, func(t *testing.T) {
			var got []string
			for _, f := range FromStatus(c.status) {
				got = append(got, f.Path)
			}
			if strings.Join(got, " ") != c.want || len(got) > 0 && c.want == "" {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
