//go:build cluster

package flux_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/fluxtest"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// leftOut are traces and steps that depend on what plan many does not look at, and why.
var leftOut = map[string]string{
	"04c-values-watch/02":     "nothing happens since nobody has looked: a plan is of a pass",
	"12-drift":                inReplay,
	"12b-drift-dry-run-fails": inReplay,
	"12c-drift-secret":        inReplay,
	"23-git-chart-version":    "the recorded charts are commits, each with the files that it changed: they are replayed",
	"23b-git-revision":        "the recorded charts are commits, each with the files that it changed: they are replayed",
	"24-service-account":      inReplay,
	"24b-kubeconfig":          inReplay,
	"25-invalid/05":           "a plan does not fetch the artifact whose digest is another one",
}

// inReplay is the reason for leaving out traces whose live objects, Secrets and roles exist only in the
// replay, where they are planned.
const inReplay = "live objects, Secrets and roles are not restored: TestTracesAreReplayed plans it"

// byHand matches the lines of a step that say that records were changed.
var byHand = regexp.MustCompile(`(?m)^# (by hand|helm\d|kubectl .*delete secret)`)

// planned maps helm-controller's words for actions to those of plan many.
var planned = map[string]string{"rollback": "roll back", "correct cluster drift": "correct drift"}

// With the status, the records and the dependencies that a step of a trace left behind on a control
// plane, the plan for what the next step applies names the action that helm-controller began with.
func TestPlansAgreeWithTheTraces(t *testing.T) {
	crds(t)
	emptied(t)
	steps := 0
	for _, trace := range fluxtest.Traces(t) {
		if why := leftOut[trace.Name]; why != "" {
			t.Logf("%s is left out: %s", trace.Name, why)
			continue
		}
		t.Run(trace.Name, func(t *testing.T) {
			for i, step := range trace.Steps {
				if why := leftOut[step.Name]; why != "" {
					t.Logf("%s is left out: %s", step.Name, why)
					continue
				}
				if step.Answer != "" || step.HelmRelease == nil || byHand.MatchString(step.Applied) {
					continue // refused, deleted, or records changed by hand
				}
				before := &fluxtest.Step{}
				if i > 0 {
					before = trace.Steps[i-1]
				}
				want := began(step)
				if want == "" {
					continue
				}
				restore(t, before, step)
				sources(t, step)
				if got := plans(t, trace, step); got != want {
					t.Errorf("%s: %s, want %s", step.Name, got, want)
				}
				steps++
			}
		})
	}
	if steps == 0 {
		t.Error("no step was planned")
	}
	t.Logf("%d steps", steps)
}

// began returns the action that a step began with or, if it began none, what stood in the way at its
// end; "" if that can't be told.
func began(step *fluxtest.Step) string {
	if step.HelmRelease == nil {
		return ""
	}
	for _, write := range step.Writes {
		if action := fluxtest.Running(write); action != "" {
			if word, ok := planned[action]; ok {
				return word
			}
			return action
		}
		if text, _ := write["condition Released"].(string); strings.HasPrefix(text, "False UninstallSucceeded") {
			return "uninstall"
		}
	}
	conditions := step.HelmRelease.Status.Conditions
	ready := flux.Condition(conditions, "Ready")
	switch {
	case step.HelmRelease.Spec.Suspend:
		return "nothing"
	case flux.ConditionTrue(conditions, "Stalled"):
		return "stall"
	case ready == nil:
		return ""
	case ready.Reason == "DependencyNotReady" || ready.Reason == "SourceNotReady":
		return "wait"
	case slices.Contains([]string{"ValuesError", "ArtifactFailed", "ChartMutateError", "RESTClientError", "StateError"}, ready.Reason):
		return "fail"
	case step.Settled && ready.Status == metav1.ConditionTrue:
		return "nothing"
	}
	return ""
}

var helmReleases = schema.GroupVersionResource{Group: flux.HelmGroup, Version: "v2", Resource: "helmreleases"}

// crds installs Flux's custom resource definitions on the control plane or, if they are not at hand,
// our own, which keep all fields.
func crds(t *testing.T) {
	t.Helper()
	from := shared("crds")
	if _, err := os.Stat(from); err != nil {
		from = "../controller/testdata/crds"
	}
	cluster.Kubectl(t, "apply", "--server-side", "-f", from)
	cluster.Kubectl(t, "wait", "--for=condition=Established", "crd", "--all", "--timeout=5m")
}

// shared returns a path in ../shared/flux.
func shared(name string) string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "../../../shared/flux", name)
}

// restore replaces what is on the control plane with what was there when step began: HelmReleases with
// their generations and statuses, and records. Annotations are those of step, which requests passes
// with them.
func restore(t *testing.T, before, step *fluxtest.Step) {
	t.Helper()
	ctx := context.Background()
	client := kubernetes.NewForConfigOrDie(cluster.Config(t))
	objects := dynamic.NewForConfigOrDie(cluster.Config(t)).Resource(helmReleases)
	namespaces := map[string]bool{}
	for _, hr := range append([]*flux.HelmRelease{step.HelmRelease}, step.Others...) {
		namespaces[hr.Metadata.Namespace], namespaces[hr.ReleaseNamespace()], namespaces[hr.StorageNamespace()] = true, true, true
	}
	for _, r := range before.Records {
		namespaces[r.StorageNamespace], namespaces[r.Namespace] = true, true
	}
	for namespace := range namespaces {
		if _, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
		all := metav1.ListOptions{}
		if err := objects.Namespace(namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, all); err != nil {
			t.Fatal(err)
		}
		all.LabelSelector = "owner=helm"
		if err := client.CoreV1().Secrets(namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, all); err != nil {
			t.Fatal(err)
		}
	}
	if hr := before.HelmRelease; hr != nil {
		put(t, objects, hr, step.HelmRelease.Metadata.Annotations)
	}
	for _, hr := range step.Others {
		put(t, objects, hr, hr.Metadata.Annotations)
	}
	for _, r := range before.Records {
		if _, err := client.CoreV1().Secrets(r.StorageNamespace).Create(ctx, secret(t, r), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// sources replaces the sources on the control plane with those of a step, including their statuses.
func sources(t *testing.T, step *fluxtest.Step) {
	t.Helper()
	ctx, client := context.Background(), dynamic.NewForConfigOrDie(cluster.Config(t))
	for _, kind := range []string{"helmcharts", "ocirepositories", "gitrepositories", "helmrepositories"} {
		in := client.Resource(schema.GroupVersionResource{Group: flux.SourceGroup, Version: "v1", Resource: kind}).Namespace(step.HelmRelease.Metadata.Namespace)
		if err := in.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
		for _, s := range step.Sources {
			if strings.Replace(strings.ToLower(s.Kind), "repository", "repositorie", 1)+"s" != kind {
				continue
			}
			o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": flux.SourceGroup + "/v1", "kind": s.Kind, "spec": s.Object["spec"]}}
			o.SetName(s.Metadata.Name)
			made, err := in.Create(ctx, o, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			status, _ := s.Object["status"].(map[string]any)
			status = maps.Clone(status)
			if s.Status.ObservedGeneration == s.Metadata.Generation {
				status["observedGeneration"] = made.GetGeneration()
			}
			made.Object["status"] = status
			if _, err := in.UpdateStatus(ctx, made, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// secret returns a record as Helm stores it.
func secret(t *testing.T, r fluxtest.Record) *corev1.Secret {
	t.Helper()
	data, err := json.Marshal(r.Revision)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	version := strconv.Itoa(r.Version)
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name:   "sh.helm.release.v1." + r.Name + ".v" + version,
			Labels: map[string]string{"owner": "helm", "name": r.Name, "version": version, "status": string(r.Info.Status)},
		},
		Type:       "helm.sh/release.v1",
		StringData: map[string]string{"release": base64.StdEncoding.EncodeToString(packed.Bytes())},
	}
}

// put creates a HelmRelease, updates it until it has its generation, and then writes its status.
func put(t *testing.T, to dynamic.NamespaceableResourceInterface, recorded *flux.HelmRelease, annotations map[string]string) {
	t.Helper()
	ctx := context.Background()
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": flux.HelmGroup + "/v2", "kind": flux.KindHelmRelease}}
	o.SetName(recorded.Metadata.Name)
	o.SetNamespace(recorded.Metadata.Namespace)
	o.SetLabels(recorded.Metadata.Labels)
	o.SetAnnotations(annotations)
	spec, _ := recorded.Object["spec"].(map[string]any)
	in := to.Namespace(o.GetNamespace())
	for n := int64(1); n <= recorded.Metadata.Generation; n++ {
		o.Object["spec"] = spec
		if n < recorded.Metadata.Generation {
			other := maps.Clone(spec)
			other["interval"] = fmt.Sprintf("%dh", n+20)
			o.Object["spec"] = other
		}
		var err error
		if n == 1 {
			o, err = in.Create(ctx, o, metav1.CreateOptions{})
		} else {
			o, err = in.Update(ctx, o, metav1.UpdateOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if o.GetGeneration() != recorded.Metadata.Generation {
		t.Fatalf("%s has generation %d, want %d", o.GetName(), o.GetGeneration(), recorded.Metadata.Generation)
	}
	o.Object["status"] = recorded.Object["status"]
	if _, err := in.UpdateStatus(ctx, o, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// plans returns the action in the plan of a step's HelmRelease, made with the step's ConfigMaps and
// Secrets.
func plans(t *testing.T, trace *fluxtest.Trace, step *fluxtest.Step) string {
	t.Helper()
	dir, hr := t.TempDir(), step.HelmRelease
	var text strings.Builder
	write := func(o map[string]any) {
		data, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, "---\n%s\n", data)
	}
	write(map[string]any{
		"apiVersion": flux.HelmGroup + "/v2", "kind": flux.KindHelmRelease, "spec": hr.Object["spec"],
		"metadata": map[string]any{"name": hr.Metadata.Name, "namespace": hr.Metadata.Namespace, "labels": hr.Metadata.Labels},
	})
	for _, o := range step.Objects {
		if o["kind"] == kinds.Secret.Kind || o["kind"] == "ConfigMap" {
			write(o)
		}
	}
	file := filepath.Join(dir, "web.yaml")
	clustertest.WriteFiles(t, dir, map[string]string{"web.yaml": text.String()})
	args := []string{"plan", "many", file, "-o", "json", "--kubeconfig", cluster.Kubeconfig}
	for _, s := range step.Sources {
		if s.Reference() == hr.ChartSource() {
			chart := "app-1.0.0"
			if s.Status.Artifact != nil {
				chart = strings.TrimSuffix(filepath.Base(s.Status.Artifact.Path), ".tgz")
			}
			at := filepath.Join(trace.Dir, "chart", chart)
			if _, err := os.Stat(at); err != nil {
				at = filepath.Join("testdata/charts", chart) // the project's own excerpt has none
			}
			args = append(args, "--source", fmt.Sprintf("%s=%s", s.Reference(), at))
		}
	}
	r := cluster.Run(t, clustertest.Program(t), "", args...)
	var out struct {
		Releases []struct {
			Manager string
			Verdict *releaseset.Verdict
		}
	}
	if err := json.Unmarshal([]byte(r.Stdout), &out); err != nil {
		return fmt.Sprintf("exit code %d: %.300s", r.ExitCode, r.Stderr)
	}
	for _, release := range out.Releases {
		switch {
		case release.Manager != "HelmRelease "+hr.String():
		case release.Verdict == nil:
			return "fail" // its values or chart can't be read
		default:
			return release.Verdict.Action
		}
	}
	return fmt.Sprintf("no release: %.1500s", r.Stdout+r.Stderr)
}
