//go:build cluster

package cluster_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/objecttest"
	"github.com/kubectl-release/kubectl-release/plan"
)

var control *clustertest.Cluster

func TestMain(m *testing.M) {
	os.Exit(clustertest.Main(m, clustertest.Options{}, func(c *clustertest.Cluster) { control = c }))
}

// live returns a client of the real control plane, and a counter of its requests.
func live(t *testing.T) (*cluster.Client, *atomic.Int32) {
	t.Helper()
	config := control.Config(t)
	sent := new(atomic.Int32)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return counting{next, sent} })
	c, err := cluster.Connect(config, cluster.Options{CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return c, sent
}

type counting struct {
	next http.RoundTripper
	sent *atomic.Int32
}

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.sent.Add(1)
	return c.next.RoundTrip(r)
}

func object(t testing.TB, namespace, text string) *unstructured.Unstructured {
	t.Helper()
	o := objecttest.Parse(t, text)
	o.SetNamespace(namespace)
	return o
}

func refOf(o *unstructured.Unstructured) apply.Ref {
	gvk := o.GroupVersionKind()
	return apply.Ref{ID: manifest.ID{Group: gvk.Group, Kind: gvk.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}, Version: gvk.Version}
}

const web = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
`

func predict(t *testing.T, c *cluster.Client, s plan.Step) plan.Prediction {
	t.Helper()
	s.ID = "step"
	got, err := c.Predict(t.Context(), []*plan.Step{&s}, apply.WriteOptions{FieldManager: "helm"})
	if err != nil {
		t.Fatal(err)
	}
	return got["step"]
}

func create(t testing.TB, c *cluster.Client, o *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	if _, err := c.Create(t.Context(), o, apply.WriteOptions{FieldManager: "helm"}); err != nil {
		t.Fatal(err)
	}
	created, err := c.Get(t.Context(), refOf(o)) // the answer to a create contains only metadata
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// S18: the real server's messages about immutable fields are recognised.
func TestLiveImmutableFields(t *testing.T) {
	c, _ := live(t)
	namespace := control.Namespace(t)
	const pod = `{metadata: {labels: {app: x}}, spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}`
	for name, test := range map[string]struct{ object, patch, field string }{
		"a Deployment's selector": {
			web, `{"spec":{"selector":{"matchLabels":{"app":"other"}},"template":{"metadata":{"labels":{"app":"other"}}}}}`, "spec.selector",
		},
		"a StatefulSet's claims": {`
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: x}}
  template: {metadata: {labels: {app: x}}, spec: {containers: [{name: c, image: i}]}}
  volumeClaimTemplates: [{metadata: {name: d}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]
`, `{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"d"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"2Gi"}}}}]}}`, "spec"},
		"a Job's template": {
			"apiVersion: batch/v1\nkind: Job\nmetadata: {name: job}\nspec: {template: " + pod + "}",
			`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"j"}]}}}}`, "spec.template",
		},
		"a Service's IP": {
			"apiVersion: v1\nkind: Service\nmetadata: {name: svc}\nspec: {ports: [{port: 80}]}", `{"spec":{"clusterIP":"10.96.200.200","clusterIPs":["10.96.200.200"]}}`, "spec.clusterIPs[0]",
		},
		"a claim's class": {
			"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: pvc}\nspec: {storageClassName: a, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}",
			`{"spec":{"storageClassName":"b"}}`, "spec",
		},
		"an immutable ConfigMap": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\nimmutable: true\ndata: {a: b}", `{"data":{"a":"c"}}`, "data",
		},
		"a Secret's type": {
			"apiVersion: v1\nkind: Secret\nmetadata: {name: sec}\ntype: Opaque", `{"type":"other"}`, "type",
		},
		"a RoleBinding's role": {
			"apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: rb}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: a}",
			`{"roleRef":{"name":"b"}}`, "roleRef",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := create(t, c, object(t, namespace, test.object))
			p := predict(t, c, plan.Step{
				Op: plan.OpPatch, Object: refOf(o).ID, APIVersion: o.GetAPIVersion(), Body: o,
				PatchType: types.MergePatchType, Patch: []byte(test.patch),
			})
			if p.Refused == nil || !p.Refused.Immutable || !slices.Contains(p.Refused.Fields, test.field) {
				t.Errorf("prediction %+v, refused %+v; want %s immutable", p, p.Refused, test.field)
			}
		})
	}
}

// S24: a conflict of server-side apply names the other manager and the field.
func TestLiveConflictNamesTheManager(t *testing.T) {
	c, _ := live(t)
	namespace := control.Namespace(t)
	body := object(t, namespace, web)
	create(t, c, body)
	control.Kubectl(t, "patch", "deployment", "web", "-n", namespace, "--field-manager", "autoscaler", "-p", `{"spec":{"replicas":5}}`)
	p := predict(t, c, plan.Step{
		Op: plan.OpPatch, Object: refOf(body).ID, APIVersion: body.GetAPIVersion(), Body: body, PatchType: types.ApplyPatchType,
	})
	if p.Refused == nil || !slices.Equal(p.Refused.Managers, []string{"autoscaler"}) || !slices.Equal(p.Refused.Fields, []string{"spec.replicas"}) {
		t.Errorf("prediction %+v, refused %+v", p, p.Refused)
	}
}

// What a dry run says about a namespace that does not exist, about an exhausted quota,
// and about a replace after somebody else's write.
func TestLiveRefusals(t *testing.T) {
	c, _ := live(t)
	namespace := control.Namespace(t)
	missing := object(t, "nowhere", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}")
	step := plan.Step{Op: plan.OpCreate, Object: refOf(missing).ID, APIVersion: "v1", Body: missing}
	if p := predict(t, c, step); p.Refused == nil || p.Refused.Reason != "NotFound" || !strings.Contains(p.Refused.Message, `namespaces "nowhere" not found`) {
		t.Errorf("without a namespace: %+v, refused %+v", p, p.Refused)
	}

	replaced := create(t, c, object(t, namespace, web))
	control.Kubectl(t, "annotate", "deployment", "web", "-n", namespace, "a=b")
	p := predict(t, c, plan.Step{
		Op: plan.OpReplace, Object: refOf(replaced).ID, APIVersion: "apps/v1", Body: object(t, namespace, web),
		Expect: plan.Expect{UID: replaced.GetUID(), ResourceVersion: replaced.GetResourceVersion()},
	})
	if p.After == nil {
		t.Errorf("a replace after somebody's write: %+v, refused %+v", p, p.Refused)
	}

	control.Apply(t, namespace, "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: small}\nspec: {hard: {configmaps: \"1\"}}")
	crowd := object(t, namespace, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one-too-many}")
	step = plan.Step{Op: plan.OpCreate, Object: refOf(crowd).ID, APIVersion: "v1", Body: crowd}
	var over plan.Prediction
	for range 6000 { // it takes the quota a moment to count
		if over = predict(t, c, step); over.Refused != nil && strings.Contains(over.Refused.Message, "exceeded quota") {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if over.Refused == nil || over.Refused.Reason != "Forbidden" || !strings.Contains(over.Refused.Message, "exceeded quota: small") {
		t.Errorf("over quota: %+v, refused %+v", over, over.Refused)
	}
}

// The diagnosis of a Deployment whose pods are not allowed says why, although only its
// ReplicaSets know.
func TestLiveDiagnostics(t *testing.T) {
	c, _ := live(t)
	namespace := control.Namespace(t)
	control.Apply(t, namespace, "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: none}\nspec: {hard: {pods: \"0\"}}")
	created := create(t, c, object(t, namespace, web))
	var told []apply.Reason
	for range 6000 {
		if told = c.Diagnose(t.Context(), refOf(created), time.Time{}).Reasons; len(told) > 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if len(told) == 0 || !strings.Contains(told[0].Cause, "exceeded quota: none") {
		t.Errorf("troubles %v", told)
	}
}

// S17: a kind is found as soon as its CRD is served, even by a client that has not seen it before.
func TestLiveKindOfANewCRD(t *testing.T) {
	c, _ := live(t)
	namespace := control.Namespace(t)
	thing := object(t, namespace, "apiVersion: fresh.example/v1\nkind: Thing\nmetadata: {name: a}")
	gvk := thing.GroupVersionKind()
	if kinds, err := c.Kinds(t.Context(), []schema.GroupVersionKind{gvk}); err != nil || len(kinds[gvk.GroupKind()].Versions) > 0 {
		t.Fatalf("before its CRD the kind is %v, error %v", kinds, err)
	}
	crd := create(t, c, object(t, "", `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.fresh.example}
spec:
  group: fresh.example
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`))
	t.Cleanup(func() { control.Kubectl(t, "delete", "crd", crd.GetName(), "--wait=false") })
	began := time.Now()
	for {
		_, err := c.Create(t.Context(), thing, apply.WriteOptions{FieldManager: "helm"})
		if err == nil {
			break
		}
		if !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Logf("the kind was there after %v", time.Since(began).Round(time.Millisecond))
}

// S28: an aggregated API without a server is unavailable, and everything else works.
func TestLiveDeadAPIService(t *testing.T) {
	control.Apply(t, "default", `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.dead.example}
spec:
  group: dead.example
  version: v1
  groupPriorityMinimum: 100
  versionPriority: 10
  insecureSkipTLSVerify: true
  service: {name: nobody, namespace: default}
`)
	t.Cleanup(func() { control.Kubectl(t, "delete", "apiservice", "v1.dead.example", "--wait=false") })
	dead := schema.GroupVersionKind{Group: "dead.example", Version: "v1", Kind: "Thing"}
	var k plan.Kind
	for range 6000 { // the server notices it a moment later
		c, _ := live(t)
		kinds, err := c.Kinds(t.Context(), []schema.GroupVersionKind{dead, deployment})
		if err != nil {
			t.Fatal(err)
		}
		if k = kinds[dead.GroupKind()]; k.Unavailable != "" {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if k.Unavailable == "" {
		t.Errorf("the dead API's kind is %+v", k)
	}
}

// A thousand objects of five kinds are read by five LISTs. Run with -v for the time.
func TestLiveObserveThousandObjects(t *testing.T) {
	c, sent := live(t)
	namespace := control.Namespace(t)
	templates := []string{
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: many-%d}\ndata: {a: b}\n",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: many-%d}\nstringData: {a: b}\n",
		"apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: many-%d}\n",
		"apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: many-%d}\nrules: []\n",
		"apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: many-%d}\nspec: {podSelector: {}}\n",
	}
	var text strings.Builder
	var refs []apply.Ref
	for i := range 200 {
		for _, template := range templates {
			one := fmt.Sprintf(template, i)
			text.WriteString("---\n" + one)
			refs = append(refs, refOf(object(t, namespace, one)))
		}
	}
	file := filepath.Join(t.TempDir(), "many.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	control.Kubectl(t, "create", "-n", namespace, "-f", file)
	if _, err := c.Facts(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := sent.Load()
	began := time.Now()
	seen, err := c.Observe(t.Context(), refs)
	took := time.Since(began)
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range refs {
		if seen[ref.ID].Object == nil {
			t.Fatalf("%s is %+v", ref.ID, seen[ref.ID])
		}
	}
	requests := sent.Load() - before
	t.Logf("%d objects of %d kinds: %d requests, %v", len(refs), len(templates), requests, took.Round(time.Millisecond))
	if requests != int32(len(templates)) {
		t.Errorf("%d requests, want a LIST for each of %d kinds", requests, len(templates))
	}
}
