package reconcile_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Check 31: whatever depends on a HelmRelease whose drift is unknown goes on.
func TestCheck31DependentsGoOn(t *testing.T) {
	db := newBench(t, "driftDetection: {mode: enabled}")
	db.mustPass()
	db.edit("by hand")
	db.cluster.Refuse = map[manifest.ID]*plan.Refusal{configMap: {Reason: "Invalid", Message: "no"}}
	db.mustPass()
	if db.condition("Drifted") != "Drifted Unknown DriftUnknown" {
		t.Fatal(db.condition("Drifted"))
	}
	b := newBench(t, "dependsOn: [{name: db}]")
	b.local["HelmRelease/db"] = db.object("db")
	b.mustPass()
	if b.condition("Ready") != "Ready True InstallSucceeded" || b.stored() != "deployed" {
		t.Errorf("%s, records %s", b.condition("Ready"), b.stored())
	}
}

// object returns the HelmRelease as the API server has it, under another name.
func (b *bench) object(name string) *unstructured.Unstructured {
	b.t.Helper()
	data, err := yaml.Marshal(map[string]any{"spec": b.hr.Spec, "status": b.hr.Status})
	if err != nil {
		b.t.Fatal(err)
	}
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(data, &o.Object); err != nil {
		b.t.Fatal(err)
	}
	o.SetNamespace("shop")
	o.SetName(name)
	o.SetGeneration(b.hr.Metadata.Generation)
	return o
}

// Check 36: Ready names the file and the line that does not render, but not what that quotes.
func TestCheck36ReadyNamesTheLine(t *testing.T) {
	b := newBench(t, "valuesFrom: [{kind: Secret, name: db}]")
	b.local["Secret/db"] = secret("db", map[string]string{"values.yaml": "password: hunter2-and-more"})
	b.chart.Templates[0].Data = []byte("apiVersion: v1\nkind: ConfigMap\n{{ fail (print \"bad \" .Values.password) }}\n")
	if _, err := b.pass(); err == nil {
		t.Fatal("it renders")
	}
	message := ""
	for _, c := range b.hr.Status.Conditions {
		if c.Type == "Ready" {
			message = c.Message
		}
	}
	if !strings.Contains(message, "templates/settings.yaml:3") || strings.Contains(message, "hunter2") {
		t.Error(message)
	}
}

// Check 40: values are read from the cluster that the HelmRelease is in, wherever its release
// goes. Each connection uses the kubeconfig, including that of a pass that looks for drift.
func TestCheck40ValuesAreLocal(t *testing.T) {
	b := newBench(t, "driftDetection: {mode: enabled}\nkubeConfig: {secretRef: {name: remote}}\nvaluesFrom: [{kind: Secret, name: db}]")
	b.local["Secret/remote"] = secret("remote", map[string]string{"value": "of another cluster"})
	b.local["Secret/db"] = secret("db", map[string]string{"values.yaml": "text: of here"})
	b.cluster.Put(secret("db", map[string]string{"values.yaml": "text: of there"}))
	b.mustPass()
	b.edit("by hand")
	b.mustPass()
	text, _, _ := unstructured.NestedString(b.cluster.Objects[configMap].Object, "data", "text")
	if text != "of here" || b.stored() != "deployed" {
		t.Errorf("text %q, records %s", text, b.stored())
	}
	if len(b.access) < 2 {
		t.Errorf("%d connections by two passes", len(b.access))
	}
	for _, a := range b.access {
		if string(a.Kubeconfig) != "of another cluster" {
			t.Errorf("kubeconfig %q", a.Kubeconfig)
		}
	}
}

// Check 45: nobody knows what a hook logs, so none of it is reported, whatever its policy is.
func TestCheck45HookLogs(t *testing.T) {
	for _, annotations := range []string{"annotations: {helm.sh/hook: pre-install}", "annotations: {helm.sh/hook: pre-install, helm.sh/hook-output-log-policy: 'hook-failed,hook-succeeded'}"} {
		b := newBench(t, "values: {text: two}")
		b.log = "connected with tok3n-of-nobody\nand left"
		b.chart.Templates = append(b.chart.Templates, &chart.File{Name: "templates/job.yaml", Data: []byte(
			"apiVersion: batch/v1\nkind: Job\nmetadata: {name: fails, " + annotations + "}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}\n")})
		_, err := b.pass()
		all := b.all(err)
		if !strings.Contains(all, "fails") || strings.Contains(all, "tok3n") {
			t.Errorf("%q: %s", annotations, all)
		}
	}
}

// The wait for custom resources follows what the HelmRelease says about them.
func TestHealthCheckExpressions(t *testing.T) {
	const spec = "timeout: 3s\nhealthCheckExprs: [{apiVersion: example.com/v1, kind: Widget, current: \"status.phase == 'Up'\", failed: \"status.phase == 'Broken'\"}]\n"
	for phase, want := range map[string]string{"Up": "Ready True InstallSucceeded", "Broken": "Ready False InstallFailed", "Starting": "Ready False InstallFailed"} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, spec)
			widget := "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: web}\nstatus: {phase: " + phase + "}\n"
			b.chart.Templates = append(b.chart.Templates, &chart.File{Name: "templates/widget.yaml", Data: []byte(widget)})
			if b.mustPass(); b.condition("Ready") != want {
				t.Errorf("%s: %s, %s", phase, b.condition("Ready"), b.all(nil))
			}
		})
	}
}

// With a readyExpr, a dependency is ready when that says so, evaluated on it and on what depends
// on it.
func TestReadyExpressions(t *testing.T) {
	for expr, want := range map[string]string{
		"dep.spec.interval == '10m' && self.metadata.name == 'web'": "Ready True InstallSucceeded",
		"dep.spec.interval == '11m'":                                "Ready False DependencyNotReady",
	} {
		b := newBench(t, "dependsOn: [{name: db, readyExpr: \""+expr+"\"}]")
		b.local["HelmRelease/db"] = b.object("db") // which is not Ready
		_ = unstructured.SetNestedField(b.local["HelmRelease/db"].Object, "10m", "spec", "interval")
		if b.mustPass(); b.condition("Ready") != want {
			t.Errorf("%s: %s, %s", expr, b.condition("Ready"), b.all(nil))
		}
	}
}
