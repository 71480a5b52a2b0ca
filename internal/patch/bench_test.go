package patch

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/objecttest"
)

type triple struct{ stored, live, target *unstructured.Unstructured }

// release returns 1,000 objects as a chart has them, and the live ones with what the
// API server adds: 400 Deployments, 300 ConfigMaps, 300 Services.
func release(b testing.TB) []triple {
	b.Helper()
	var all []triple
	for i := range 1000 {
		text := benchDocs[i%10]
		target := objecttest.Parse(b, fmt.Sprintf(text[0], i))
		live := objecttest.Parse(b, fmt.Sprintf(text[1], i))
		all = append(all, triple{target.DeepCopy(), live, target})
	}
	return all
}

func BenchmarkAgree1000(b *testing.B) {
	all := release(b)
	apitypes.Of(all[0].target.GroupVersionKind())
	for b.Loop() {
		for _, o := range all {
			if !InSync(o.stored, o.live, o.target) {
				b.Fatal("the documents agree")
			}
		}
	}
}

func BenchmarkThreeWay1000(b *testing.B) {
	all := release(b)
	for b.Loop() {
		for _, o := range all {
			if p, err := ThreeWay(o.stored, o.live, o.target); err != nil || !p.Empty() {
				b.Fatal(string(p.Data), err)
			}
		}
	}
}

const benchTarget = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web-%d, labels: {app.kubernetes.io/name: web, app.kubernetes.io/instance: shop, helm.sh/chart: web-1.4.2}}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {checksum/config: abc}}
    spec:
      serviceAccountName: web
      securityContext: {runAsNonRoot: true}
      containers:
      - name: web
        image: web:1.9
        env: [{name: A, value: "1"}, {name: B, value: "2"}, {name: C, valueFrom: {secretKeyRef: {name: s, key: k}}}]
        ports: [{name: http, containerPort: 8080}]
        resources: {requests: {cpu: 1000m, memory: 1024Mi}, limits: {memory: 2Gi}}
        readinessProbe: {httpGet: {path: /, port: http}}
        volumeMounts: [{name: cfg, mountPath: /etc/web}]
      volumes: [{name: cfg, configMap: {name: web}}]
`

const benchLive = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web-%d, namespace: shop, uid: u, resourceVersion: "1", labels: {app.kubernetes.io/name: web, app.kubernetes.io/instance: shop, helm.sh/chart: web-1.4.2, app.kubernetes.io/managed-by: Helm}}
spec:
  replicas: 3
  progressDeadlineSeconds: 600
  revisionHistoryLimit: 10
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%%, maxUnavailable: 25%%}}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {creationTimestamp: null, labels: {app: web}, annotations: {checksum/config: abc}}
    spec:
      serviceAccountName: web
      serviceAccount: web
      securityContext: {runAsNonRoot: true}
      dnsPolicy: ClusterFirst
      restartPolicy: Always
      schedulerName: default-scheduler
      terminationGracePeriodSeconds: 30
      containers:
      - name: web
        image: web:1.9
        imagePullPolicy: IfNotPresent
        terminationMessagePath: /dev/termination-log
        terminationMessagePolicy: File
        env: [{name: A, value: "1"}, {name: B, value: "2"}, {name: C, valueFrom: {secretKeyRef: {name: s, key: k}}}]
        ports: [{name: http, containerPort: 8080, protocol: TCP}]
        resources: {requests: {cpu: "1", memory: 1Gi}, limits: {memory: 2Gi}}
        readinessProbe: {httpGet: {path: /, port: http, scheme: HTTP}, failureThreshold: 3, periodSeconds: 10, successThreshold: 1, timeoutSeconds: 1}
        volumeMounts: [{name: cfg, mountPath: /etc/web}]
      volumes: [{name: cfg, configMap: {name: web, defaultMode: 420}}]
status: {replicas: 3}
`

const (
	benchService     = `{apiVersion: v1, kind: Service, metadata: {name: s-%d, labels: {app: web}}, spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: http}]}}`
	benchServiceLive = `{apiVersion: v1, kind: Service, metadata: {name: s-%d, uid: u, labels: {app: web, x: y}}, spec: {type: ClusterIP, clusterIP: 10.0.0.1, selector: {app: web}, ports: [{name: http, port: 80, protocol: TCP, targetPort: http}]}}`
	benchConfig      = `{apiVersion: v1, kind: ConfigMap, metadata: {name: c-%d, labels: {app: web}}, data: {a.yaml: "a: 1", b: "2", c: "3", d: "4"}}`
	benchConfigLive  = `{apiVersion: v1, kind: ConfigMap, metadata: {name: c-%d, uid: u, labels: {app: web}}, data: {a.yaml: "a: 1", b: "2", c: "3", d: "4"}}`
)

var benchDocs = [10][2]string{
	{benchTarget, benchLive},
	{benchTarget, benchLive},
	{benchTarget, benchLive},
	{benchTarget, benchLive},
	{benchConfig, benchConfigLive},
	{benchConfig, benchConfigLive},
	{benchConfig, benchConfigLive},
	{benchService, benchServiceLive},
	{benchService, benchServiceLive},
	{benchService, benchServiceLive},
}
