//go:build cluster

package flux_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	clusterapi "github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/fluxtest"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
)

// livePlans are traces whose plans depend on live objects, Secrets or roles: each step is
// planned by the program before our pass is made.
var livePlans = map[string]bool{"12-drift": true, "12b-drift-dry-run-fails": true, "12c-drift-secret": true, "24-service-account": true, "24b-kubeconfig": true}

// Every trace is replayed: what a step applied is applied, our passes replace helm-controller's, and
// after each step conditions, history, digests, records with their labels, events and objects are the
// recorded ones, except for the differences listed in different.
func TestTracesAreReplayed(t *testing.T) {
	local := prepared(t)
	connect := reconcile.NewConnector(cluster.Config(t), clusterapi.Options{}, time.Now)
	for _, trace := range replayable(t) {
		t.Run(trace.Name, func(t *testing.T) {
			t.Parallel()
			r := &replay{t: t, trace: trace, objects: dynamic.NewForConfigOrDie(cluster.Config(t)), local: local}
			r.reconciler = &reconcile.Reconciler{
				Local: local, Connect: connect, Now: time.Now, Holder: "replay " + trace.Name,
				ToolVersion: "replay", Compatible: true, DependencyInterval: 5 * time.Second,
			}
			r.namespaces()
			r.steps(func(step *fluxtest.Step) {
				if planned := began(step); livePlans[trace.Name] && planned != "" && leftOut[step.Name] == "" {
					if got := plans(t, trace, step); got != planned {
						t.Errorf("%s: the plan says %s, want %s", step.Name, got, planned)
					}
				}
				r.passes(step)
				r.compare(step)
			})
		})
	}
}

// replayable returns the traces that have charts.
func replayable(t *testing.T) (out []*fluxtest.Trace) {
	for _, trace := range fluxtest.Traces(t) {
		if _, err := os.Stat(filepath.Join(trace.Dir, "chart")); err != nil {
			continue // an excerpt
		}
		out = append(out, trace)
	}
	return out
}

// steps applies the steps of the trace one by one, and has each reconciled and compared.
func (r *replay) steps(reconcile func(*fluxtest.Step)) {
	for _, step := range r.trace.Steps {
		r.begins()
		r.apply(step)
		r.commit(step)
		reconcile(step)
		if r.t.Failed() {
			r.t.Fatalf("%s differs", step.Name)
		}
	}
}

// All differences are listed in docs/controller.md, with the same reasons.
func TestDifferencesAreTold(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "controller.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for name, d := range different {
		rows[name] = d.why
	}
	for name, d := range sooner {
		rows[name] = d.why
	}
	_, table, _ := strings.Cut(string(page), "\n## Traces\n")
	for name, why := range rows {
		if row := fmt.Sprintf("| %s | %s |\n", name, why); !strings.Contains(table, row) {
			t.Errorf("docs/controller.md lacks %s", row)
		}
	}
	if told := strings.Count(table, "\n| ") - 1; told != len(rows) {
		t.Errorf("docs/controller.md tells %d differences, there are %d", told, len(rows))
	}
}

// replay is a trace that is being replayed.
type replay struct {
	t          *testing.T
	trace      *fluxtest.Trace
	objects    dynamic.Interface
	local      *clusterapi.Client
	reconciler *reconcile.Reconciler
	events     []reconcile.Event
	// statuses are those written in the step, preceded by the one before it.
	statuses []flux.HelmReleaseStatus
	// commits are the chart folders of the commits up to the current step.
	commits []string
	// served has the artifacts of a replay by the process, told how often each event had occurred
	// before the step.
	served *artifacts
	told   map[string]int32
}

// maxPasses limits the passes of a step, for those that never end.
const maxPasses = 8

// passes makes passes over all HelmReleases of the trace until none of them has anything left to do, or
// as many as the recorded step shows.
func (r *replay) passes(step *fluxtest.Step) {
	r.events, r.statuses = nil, nil
	if why := untouched[step.Name]; why != "" || step.Answer != "" {
		return
	}
	retried := false
	for range maxPasses {
		again, failed, pause := false, false, time.Duration(0)
		for _, hr := range r.releases() {
			out, err := r.pass(step, hr)
			switch {
			case out.Again:
				again = true
			case err != nil:
				r.t.Logf("%s: %s: %v", step.Name, hr, err)
				failed = true
			case out.After > 0 && out.After < hr.Spec.Interval.Duration:
				pause = max(pause, min(out.After, 8*time.Second))
			}
		}
		switch {
		case again:
		case failed && !retried: // the recorder has seen some retries
			retried = true
		case pause > 0 && r.more(step):
			time.Sleep(pause)
		default:
			return
		}
	}
}

// more reports whether a recorded step goes on for longer: it has a revision that does not exist yet.
func (r *replay) more(step *fluxtest.Step) bool {
	if step.HelmRelease == nil || len(step.HelmRelease.Status.History) == 0 {
		return false
	}
	now := r.get(helmReleases, step.HelmRelease.Metadata.Namespace, step.HelmRelease.Metadata.Name)
	if now == nil {
		return false
	}
	hr, err := flux.DecodeHelmRelease(now.Object)
	if err != nil {
		r.t.Fatal(err)
	}
	want, got := step.HelmRelease.Status.Snapshots()[0], hr.Status.Snapshots()
	return len(got) == 0 || got[0].Version < want.Version
}

// pass does what a controller does: the finalizer, the source, the pass, the status.
func (r *replay) pass(step *fluxtest.Step, hr *flux.HelmRelease) (reconcile.Outcome, error) {
	ctx := context.Background()
	in := r.objects.Resource(helmReleases).Namespace(hr.Metadata.Namespace)
	if hr.Metadata.DeletionTimestamp == nil && len(hr.Metadata.Finalizers) == 0 {
		r.finalizers(hr, `["finalizers.fluxcd.io"]`)
	}
	told := step.HelmRelease != nil && step.HelmRelease.Metadata.Name == hr.Metadata.Name || step.HelmRelease == nil && hr.Metadata.Name == "web"
	if told && len(r.statuses) == 0 {
		r.statuses = append(r.statuses, hr.Status)
	}
	write := func(ctx context.Context, status flux.HelmReleaseStatus, events []reconcile.Event) error {
		if told {
			r.statuses = append(r.statuses, status)
		}
		r.events = append(r.events, events...)
		o, err := in.Get(ctx, hr.Metadata.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if o.Object["status"], err = runtime.DefaultUnstructuredConverter.ToUnstructured(&status); err != nil {
			return err
		}
		_, err = in.UpdateStatus(ctx, o, metav1.UpdateOptions{FieldManager: "helm-controller"})
		return err
	}
	if ref := hr.ChartSource(); hr.Spec.Chart != nil { // whoever makes the HelmChart notes it
		hr.Status.HelmChart = ref.Namespace + "/" + ref.Name
	}
	out, err := r.reconciler.Reconcile(ctx, hr, r.sources(hr), write)
	if out.Changed {
		if err := write(ctx, out.Status, out.Events); err != nil {
			r.t.Fatal(err)
		}
	} else {
		r.events = append(r.events, out.Events...)
	}
	if out.Released {
		r.finalizers(hr, "null")
	}
	return out, err
}

func (r *replay) finalizers(hr *flux.HelmRelease, list string) {
	patch := fmt.Sprintf(`{"metadata": {"finalizers": %s}}`, list)
	_, err := r.objects.Resource(helmReleases).Namespace(hr.Metadata.Namespace).Patch(context.Background(), hr.Metadata.Name, mergePatch, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
}

// sources returns the chart's source and the chart, which is stored with the trace.
func (r *replay) sources(hr *flux.HelmRelease) (in reconcile.Sources) {
	ref := hr.ChartSource()
	found, err := r.local.Lookup(context.Background(), flux.SourceGroup+"/v1", ref.Kind, ref.Namespace, ref.Name)
	if err != nil {
		in.Err = err
		return in
	}
	if in.Source, in.Err = flux.DecodeSource(found.Object); in.Err != nil {
		return in
	}
	in.Chart = func(context.Context) (*chart.Chart, error) { return r.chart(in.Source) }
	return in
}

// chart returns the chart of a source's artifact.
func (r *replay) chart(s *flux.Source) (*chart.Chart, error) {
	if len(r.commits) > 0 {
		return r.packaged(s)
	}
	a := s.Status.Artifact
	if strings.HasSuffix(a.Digest, strings.Repeat("0", 64)) {
		return nil, errors.New("its digest is another one")
	}
	dir := filepath.Join(r.trace.Dir, "chart", strings.TrimSuffix(filepath.Base(a.Path), ".tgz"))
	c, _, err := chartload.Load(dir, chartload.Options{})
	return c, err
}

// releases returns all HelmReleases in the trace's namespaces: those that wait first, then by name.
func (r *replay) releases() (out []*flux.HelmRelease) {
	for _, namespace := range r.spaces() {
		list, err := r.objects.Resource(helmReleases).Namespace(namespace).List(context.Background(), metav1.ListOptions{})
		if err != nil {
			r.t.Fatal(err)
		}
		for _, o := range list.Items {
			hr, err := flux.DecodeHelmRelease(o.Object)
			if err != nil {
				r.t.Fatal(err)
			}
			out = append(out, hr)
		}
	}
	// Those that wait look at others before these are changed.
	slices.SortFunc(out, func(a, b *flux.HelmRelease) int {
		return cmp.Or(cmp.Compare(waiting(b), waiting(a)), strings.Compare(a.String(), b.String()))
	})
	return out
}

// waiting is 1 for a HelmRelease that waits for others, else 0.
func waiting(hr *flux.HelmRelease) int {
	if c := flux.Condition(hr.Status.Conditions, "Ready"); c != nil && c.Reason == "DependencyNotReady" {
		return 1
	}
	return 0
}

// get returns an object, nil if it does not exist.
func (r *replay) get(of resource, namespace, name string) *unstructured.Unstructured {
	o, err := r.objects.Resource(of).Namespace(namespace).Get(context.Background(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return o
}
