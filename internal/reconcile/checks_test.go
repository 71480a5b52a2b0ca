package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
	"github.com/kubectl-release/kubectl-release/plan"
)

func resourceOf(kind string) schema.GroupResource { return schema.GroupResource{Resource: kind} }

var configMap = manifest.ID{Kind: "ConfigMap", Namespace: "shop", Name: "web"}

// text returns what the ConfigMap says; "" if it does not exist.
func (b *bench) text() string {
	o := b.cluster.Objects[configMap]
	if o == nil {
		return ""
	}
	text, _, _ := unstructured.NestedString(o.Object, "data", "text")
	return text
}

func (b *bench) edit(text string) {
	b.t.Helper()
	o := b.cluster.Objects[configMap]
	if err := unstructured.SetNestedField(o.Object, text, "data", "text"); err != nil {
		b.t.Fatal(err)
	}
}

const base = "interval: 10m\nchartRef: {kind: HelmChart, name: app}\n"

// Check 30: with mode warn, drift is reported and nothing written, and the HelmRelease is ready;
// with mode enabled, the objects are corrected without a new revision, except for ignored paths
// and excluded objects.
func TestCheck30Drift(t *testing.T) {
	for _, tc := range []struct {
		why, drift        string
		exclude, manifest bool
		text              string
		drifted           string
	}{
		{why: "warn", drift: "mode: warn", text: "by hand", drifted: "Drifted True DriftDetected"},
		{why: "enabled", drift: "mode: enabled", text: "one", drifted: "Drifted False NoDriftDetected"},
		{why: "an ignored path", drift: "{mode: enabled, ignore: [{paths: [/data/text]}]}", text: "by hand", drifted: "Drifted False NoDriftDetected"},
		{why: "a rule for others", drift: "{mode: enabled, ignore: [{paths: [/data/text], target: {kind: Deploy.*}}]}", text: "one", drifted: "Drifted False NoDriftDetected"},
		{why: "an excluded object", drift: "mode: enabled", exclude: true, text: "by hand", drifted: "Drifted False NoDriftDetected"},
		{why: "one that the manifest excludes", drift: "mode: enabled", manifest: true, text: "by hand", drifted: "Drifted False NoDriftDetected"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			drift := tc.drift
			if !strings.HasPrefix(drift, "{") {
				drift = "{" + drift + "}"
			}
			b := newBench(t, "driftDetection: "+drift)
			disabled := map[string]string{"helm.toolkit.fluxcd.io/driftDetection": "disabled"}
			if tc.manifest {
				text := strings.Replace(string(b.chart.Templates[0].Data), "{name: web}", "{name: web, annotations: {helm.toolkit.fluxcd.io/driftDetection: disabled}}", 1)
				b.chart.Templates[0].Data = []byte(text)
			}
			b.mustPass()
			b.edit("by hand")
			if tc.exclude {
				b.cluster.Objects[configMap].SetAnnotations(disabled)
			}
			if tc.manifest {
				b.cluster.Objects[configMap].SetAnnotations(nil)
			}
			b.mustPass()
			if got := b.text(); got != tc.text {
				t.Errorf("the text is %q", got)
			}
			if b.condition("Drifted") != tc.drifted || b.condition("Ready") != "Ready True InstallSucceeded" || b.stored() != "deployed" {
				t.Errorf("%s, %s, records %s", b.condition("Drifted"), b.condition("Ready"), b.stored())
			}
		})
	}
}

// A Secret that was changed by hand is corrected, which helm-controller fails to do.
func TestADriftedSecretIsCorrected(t *testing.T) {
	b := newBench(t, "driftDetection: {mode: enabled}")
	b.chart.Templates = append(b.chart.Templates, &chart.File{Name: "templates/keys.yaml", Data: []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: keys}\nstringData: {key: s3cr3t-canary-value}\n")})
	b.mustPass()
	keys := configMap
	keys.Kind, keys.Name = "Secret", "keys"
	want := b.cluster.Objects[keys].DeepCopy()
	changed := want.DeepCopy()
	if err := unstructured.SetNestedField(changed.Object, "YnkgaGFuZA==", "data", "key"); err != nil {
		t.Fatal(err)
	}
	b.cluster.Put(changed)
	b.mustPass()
	if b.condition("Drifted") != "Drifted False NoDriftDetected" || b.stored() != "deployed" {
		t.Errorf("%s, records %s", b.condition("Drifted"), b.stored())
	}
	if got, _, _ := unstructured.NestedString(b.cluster.Objects[keys].Object, "data", "key"); got == "YnkgaGFuZA==" {
		t.Error("it is as it was changed")
	}
	if strings.Contains(b.all(nil), "canary") {
		t.Error("a secret is told")
	}
}

// Check 31: the drift of an object for which no dry run is possible is unknown. The HelmRelease
// stays ready; if the reconciler is Compatible, as with helm-controller, it does not.
func TestCheck31DriftUnknown(t *testing.T) {
	for _, compatible := range []bool{false, true} {
		b := newBench(t, "driftDetection: {mode: enabled}")
		b.r.Compatible = compatible
		b.mustPass()
		b.edit("by hand")
		b.cluster.Refuse = map[manifest.ID]*plan.Refusal{configMap: {Reason: "Invalid", Message: "no"}}
		_, err := b.pass()
		want := "Drifted Unknown DriftUnknown, Ready True InstallSucceeded"
		if compatible {
			want = "Drifted False NoDriftDetected, Ready False StateError"
		}
		if got := b.condition("Drifted") + ", " + b.condition("Ready"); got != want || compatible == (err == nil) {
			t.Errorf("compatible %t: %s, %v", compatible, got, err)
		}
	}
}

// With an ignore rule that can't be read, drift is neither reported nor corrected: the rule may protect what
// was changed.
func TestDriftRuleThatCantBeRead(t *testing.T) {
	for _, compatible := range []bool{false, true} {
		b := newBench(t, "driftDetection: {mode: enabled, ignore: [{paths: [/data], target: {kind: '('}}]}")
		b.r.Compatible = compatible
		_, _ = b.pass()
		b.edit("by hand")
		_, err := b.pass()
		want := "Drifted Unknown DriftUnknown, Ready True InstallSucceeded"
		if compatible {
			want = ", Ready False StateError"
		}
		if got := b.condition("Drifted") + ", " + b.condition("Ready"); got != want || err == nil || !strings.Contains(b.all(nil), "spec.driftDetection.ignore[0].target.kind: ") {
			t.Errorf("compatible %t: %s, %v", compatible, got, err)
		}
		if got, _, _ := unstructured.NestedString(b.cluster.Objects[configMap].Object, "data", "text"); got != "by hand" {
			t.Errorf("compatible %t: the text is %q", compatible, got)
		}
	}
}

// Check 36: a chart that does not render leaves no record and no counter of an attempt; Ready
// names the file, without secrets, and the pass is retried as after errors.
func TestCheck36RenderError(t *testing.T) {
	b := newBench(t, "valuesFrom: [{kind: Secret, name: db}]\nvalues: {text: null}")
	b.local["Secret/db"] = secret("db", map[string]string{"values.yaml": "password: hunter2-and-more"})
	b.chart.Templates[0].Data = []byte(`{{ fail (print "bad " .Values.password) }}`)
	out, err := b.pass()
	if err == nil || b.stored() != "" || out.Status.InstallFailures != 0 || out.Status.Failures != 1 {
		t.Errorf("%v, records %q, %+v", err, b.stored(), out.Status)
	}
	if b.condition("Ready") != "Ready False InstallFailed" {
		t.Error(b.condition("Ready"))
	}
	if all := b.all(err); !strings.Contains(all, "settings.yaml") || strings.Contains(all, "hunter2") {
		t.Error(all)
	}
}

// Check 37: forceAt together with requestedAt causes one upgrade, and the same pass again causes
// none; resetAt clears the counters.
func TestCheck37ForceAndReset(t *testing.T) {
	b := newBench(t, "")
	b.mustPass()
	b.hr.Metadata.Annotations = map[string]string{flux.AnnotationRequestedAt: "1", flux.AnnotationForceAt: "1"}
	for range 2 {
		b.mustPass()
		if b.stored() != "superseded deployed" || b.hr.Status.LastHandledForceAt != "1" || b.hr.Status.LastHandledReconcileAt != "1" {
			t.Errorf("records %s, %+v", b.stored(), b.hr.Status)
		}
	}
	b.hr.Status.Failures, b.hr.Status.UpgradeFailures = 3, 2
	b.hr.Metadata.Annotations = map[string]string{flux.AnnotationRequestedAt: "2", flux.AnnotationResetAt: "2"}
	b.mustPass()
	if s := b.hr.Status; s.Failures+s.UpgradeFailures != 0 || s.LastHandledResetAt != "2" || b.stored() != "superseded deployed" {
		t.Errorf("%+v", s)
	}
}

// Check 39: everything is done as the ServiceAccount. If it is gone when the HelmRelease is
// deleted, the release is left behind, which is reported, and the finalizer is not held.
func TestCheck39ServiceAccount(t *testing.T) {
	b := newBench(t, "serviceAccountName: deployer")
	b.mustPass()
	if len(b.access) == 0 {
		t.Error("there was no connection")
	}
	for _, a := range b.access {
		if a.User != "system:serviceaccount:shop:deployer" {
			t.Errorf("as %q", a.User)
		}
	}
	b.hr.Metadata.DeletionTimestamp = &metav1.Time{}
	out := b.mustPass()
	if !out.Released || b.stored() != "deployed" || !strings.Contains(b.all(nil), "the release is left behind") {
		t.Errorf("released %t, records %s: %s", out.Released, b.stored(), b.all(nil))
	}
}

// Check 40: the kubeconfig in a Secret says where the release goes, and those under its other keys have
// connections of their own; without the Secret, Ready says so. For kubeconfigs that are refused see
// TestCheck40KubeconfigsThatAreRefused.
func TestCheck40Kubeconfig(t *testing.T) {
	b := newBench(t, "kubeConfig: {secretRef: {name: remote}}")
	if _, err := b.pass(); err == nil || b.condition("Ready") != "Ready False RESTClientError" {
		t.Errorf("without the Secret: %v, %s", err, b.condition("Ready"))
	}
	b.local["Secret/remote"] = secret("remote", map[string]string{"value": "of another cluster", "third": "of a third one"})
	b.mustPass()
	one := b.access[len(b.access)-1]
	if got := string(one.Kubeconfig); got != "of another cluster" {
		t.Errorf("kubeconfig %q", got)
	}
	b.apply(base + "kubeConfig: {secretRef: {name: remote, key: third}}")
	b.mustPass()
	if other := b.access[len(b.access)-1]; string(other.Kubeconfig) != "of a third one" || other.Holder == one.Holder {
		t.Errorf("kubeconfig %q, kept for %s as that of another key", other.Kubeconfig, other.Holder)
	}
}

// Check 41: a source in another namespace is denied where that is forbidden, and nothing is retried.
func TestCheck41CrossNamespace(t *testing.T) {
	b := newBench(t, "")
	b.r.NoCrossNamespaceRefs = true
	b.apply("interval: 10m\nchartRef: {kind: HelmChart, name: app, namespace: other}")
	out := b.mustPass()
	if b.condition("Stalled") != "Stalled True AccessDenied" || b.condition("Ready") != "Ready False AccessDenied" || out.After != 0 || out.Again {
		t.Errorf("%s, %s, %+v", b.condition("Stalled"), b.condition("Ready"), out)
	}
}

// Check 42: a pass that finds everything in sync writes nothing, and sends no request if the
// records are known to be unchanged.
func TestCheck42InSync(t *testing.T) {
	b := newBench(t, "")
	b.mustPass()
	if n := b.quiet(); n != 0 {
		t.Errorf("%d writes", n)
	}
	b.in = func(in *reconcile.Sources) {
		in.RecordsUnchanged = true
		in.Chart = func(context.Context) (*chart.Chart, error) { return nil, errors.New("the chart is not needed") }
	}
	if n := b.quiet(); n != 0 || len(b.records.Actions()) != 0 {
		t.Errorf("%d writes, requests %v", n, b.records.Actions())
	}
}

// Records that are known to be unchanged are read all the same as soon as there is something to do, also if they have
// changed by then: a pass ends as it does without that knowledge.
func TestUnchangedRecordsAreReadBeforeSomethingIsDone(t *testing.T) {
	drift := base + "driftDetection: {mode: enabled}\n"
	for why, change := range map[string]func(*bench){
		"nothing":      func(*bench) {},
		"other values": func(b *bench) { b.apply(drift + "values: {text: two}") },
		"drift":        func(b *bench) { b.edit("by hand") },
		"pending":      func(b *bench) { b.pending(); b.apply(drift + "values: {text: two}") },
		"only pending": func(b *bench) { b.pending() },
		"uninstalled": func(b *bench) {
			if err := b.records.CoreV1().Secrets("shop").Delete(b.ctx, "sh.helm.release.v1.web.v1", metav1.DeleteOptions{}); err != nil {
				b.t.Fatal(err)
			}
		},
	} {
		t.Run(why, func(t *testing.T) {
			ends := func(unchanged bool) string {
				b := newBench(t, "driftDetection: {mode: enabled}")
				b.mustPass()
				b.in = func(in *reconcile.Sources) { in.RecordsUnchanged = unchanged }
				change(b)
				out, err := b.pass()
				data, failed := yaml.Marshal(out.Status)
				if failed != nil {
					t.Fatal(failed)
				}
				return fmt.Sprintln(string(data), b.events, err, b.stored(), b.text())
			}
			if diff := cmp.Diff(ends(false), ends(true)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Check 45: what comes from a Secret is in no condition, no event and no error, even if the API
// server or a template quotes it.
func TestCheck45Secrets(t *testing.T) {
	const canary = "s3cr3t-canary-value"
	b := newBench(t, "valuesFrom: [{kind: Secret, name: db, valuesKey: text, targetPath: text}]")
	b.local["Secret/db"] = secret("db", map[string]string{"text": canary})
	const made = "s3cr3t-of-the-chart" // which is none of the values
	b.chart.Templates = append(b.chart.Templates, &chart.File{Name: "templates/own.yaml", Data: []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: own}\nstringData: {password: " + made + "}\n")})
	b.cluster.Refuse = map[manifest.ID]*plan.Refusal{configMap: {Reason: "Invalid", Message: "data.text: Invalid value: \"" + canary + "\", and not " + made}}
	_, err := b.pass()
	if err == nil {
		t.Fatal("a refusal was taken")
	}
	if all := b.all(err); strings.Contains(all, canary) || strings.Contains(all, made) {
		t.Error(all)
	}
}

// Check 47: the status that a pass leaves, stored and read again, is in sync for the next pass, which
// writes nothing and makes no new revision.
func TestCheck47HandOver(t *testing.T) {
	b := newBench(t, "values: {text: two}")
	b.mustPass()
	data, err := yaml.Marshal(b.hr.Status)
	if err != nil {
		t.Fatal(err)
	}
	var again flux.HelmReleaseStatus
	if err := yaml.UnmarshalStrict(data, &again); err != nil {
		t.Fatal(err)
	}
	b.hr.Status = again
	if n := b.quiet(); n != 0 || b.stored() != "deployed" {
		t.Errorf("%d writes, records %s", n, b.stored())
	}
}
