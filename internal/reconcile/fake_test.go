package reconcile_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// bench is a HelmRelease, the cluster that its release goes to, and what was written about it.
type bench struct {
	t       *testing.T
	hr      *flux.HelmRelease
	chart   *chart.Chart
	cluster *clusterfake.Cluster
	records *fake.Clientset
	local   objects
	access  []reconcile.Access
	// reports are the statuses that were written while passes acted, events all that were reported.
	reports []flux.HelmReleaseStatus
	events  []reconcile.Event
	r       *reconcile.Reconciler
	source  *flux.Source
	in      func(*reconcile.Sources)
	// ctx is that of passes, creates is told the name of each object that is about to be created.
	ctx     context.Context
	creates func(name string)
	// refuse returns why a patch of a ConfigMap is refused, nil if it is not.
	refuse func(patch string) error
	// creating is why no Job is created.
	creating error
	// log is what Jobs have logged.
	log string
	// reported is called with each status that is written while a pass acts.
	reported func(flux.HelmReleaseStatus)
	// unwritten returns why such a status can't be written, nil if it can.
	unwritten func(flux.HelmReleaseStatus) error
	// unread is why the chart can't be loaded to judge a change, nil if it can.
	unread error
	// unseen is why live objects can't be looked at, nil if they can.
	unseen  error
	connect reconcile.Connector
}

// objects are those in the cluster that HelmReleases are in, by "ConfigMap/name".
type objects map[string]*unstructured.Unstructured

func (o objects) Lookup(_ context.Context, _, kind, _, name string) (*unstructured.Unstructured, error) {
	if found := o[kind+"/"+name]; found != nil {
		return found, nil
	}
	return nil, apierrors.NewNotFound(resourceOf(kind), name)
}

const settings = `apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {text: {{ required "a text is needed" .Values.text | quote }}, version: {{ .Chart.Version | quote }}}
`

// newBench returns a bench with a HelmRelease shop/web that has the spec, in YAML, and a chart
// with a ConfigMap.
func newBench(t *testing.T, spec string) *bench {
	b := &bench{
		t: t, ctx: t.Context(), creates: func(string) {}, cluster: clusterfake.New(), records: clusterfake.Clientset(), local: objects{},
		chart: &chart.Chart{
			Metadata:  &chart.Metadata{APIVersion: "v2", Name: "app", Version: "1.0.0", AppVersion: "7"},
			Values:    map[string]any{"text": "one"},
			Templates: []*chart.File{{Name: "templates/settings.yaml", Data: []byte(settings)}},
		},
	}
	b.refuses("bad", apierrors.NewForbidden(resourceOf("configmaps"), "web", nil))
	for _, name := range []string{"shop", "other"} {
		namespace := &unstructured.Unstructured{}
		namespace.SetAPIVersion("v1")
		namespace.SetKind("Namespace")
		namespace.SetName(name)
		b.cluster.Put(namespace)
	}
	var api engine.Cluster = picky{b.cluster, b}
	connection := &reconcile.Connection{Cluster: api, Records: b.records.CoreV1(), Locker: releasestore.NewLocker(b.records.CoordinationV1(), releasestore.SystemClock{})}
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	b.r = &reconcile.Reconciler{
		Local: b.local, Now: func() time.Time { return now }, Holder: "test", ToolVersion: "test",
		Connect: func(ctx context.Context, a reconcile.Access) (*reconcile.Connection, error) { return b.connect(ctx, a) },
	}
	b.connect = func(_ context.Context, a reconcile.Access) (*reconcile.Connection, error) {
		b.access = append(b.access, a)
		return connection, nil
	}
	b.apply("interval: 10m\nchartRef: {kind: HelmChart, name: app}\n" + spec)
	return b
}

// refuses has the ConfigMap with the text refused.
func (b *bench) refuses(text string, why error) {
	b.refuse = func(patch string) error {
		if strings.Contains(patch, fmt.Sprintf(`"text":%q`, text)) {
			return why
		}
		return nil
	}
}

// apply gives the HelmRelease another spec, and so another generation.
func (b *bench) apply(spec string) {
	b.t.Helper()
	var table map[string]any
	if err := yaml.Unmarshal([]byte(spec), &table); err != nil {
		b.t.Fatal(err)
	}
	next, err := flux.DecodeHelmRelease(map[string]any{"metadata": map[string]any{"name": "web", "namespace": "shop"}, "spec": table})
	if err != nil {
		b.t.Fatal(err)
	}
	next.Metadata.Generation = 1
	if b.hr != nil {
		next.Metadata.Generation, next.Status, next.Metadata.Annotations = b.hr.Metadata.Generation+1, b.hr.Status, b.hr.Metadata.Annotations
	}
	b.hr = next
}

// chartSource returns the source of the chart: a HelmChart, unless another one is set.
func (b *bench) chartSource() *flux.Source {
	if b.source != nil {
		return b.source
	}
	source := &flux.Source{Kind: flux.KindHelmChart, Metadata: flux.Metadata{Name: "app", Namespace: "shop"}}
	source.Status = flux.SourceStatus{ObservedChartName: "app", Artifact: &flux.Artifact{Revision: b.chart.Metadata.Version}}
	return source
}

// pass makes one pass and keeps the status.
func (b *bench) pass() (reconcile.Outcome, error) {
	b.t.Helper()
	in := reconcile.Sources{Source: b.chartSource(), Chart: func(context.Context) (*chart.Chart, error) { return b.chart, nil }}
	if b.in != nil {
		b.in(&in)
	}
	out, err := b.r.Reconcile(b.ctx, b.hr, in, func(_ context.Context, s flux.HelmReleaseStatus, events []reconcile.Event) error {
		b.reports, b.events = append(b.reports, s), append(b.events, events...)
		if b.reported != nil {
			b.reported(s)
		}
		if b.unwritten != nil {
			return b.unwritten(s)
		}
		return nil
	})
	b.hr.Status, b.events = out.Status, append(b.events, out.Events...)
	return out, err
}

// mustPass makes a pass that has to end without an error.
func (b *bench) mustPass() reconcile.Outcome {
	b.t.Helper()
	out, err := b.pass()
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// quiet makes a pass and returns how many writes it made: of objects, records, locks and the status.
func (b *bench) quiet() int {
	b.t.Helper()
	b.records.ClearActions()
	calls, reports := b.cluster.Calls, len(b.reports)
	out := b.mustPass()
	n := b.cluster.Calls - calls + len(b.reports) - reports
	if out.Changed {
		n++
	}
	for _, a := range b.records.Actions() {
		if verb := a.GetVerb(); verb != "get" && verb != "list" && verb != "watch" {
			n++
		}
	}
	return n
}

// condition returns the condition as "Ready True InstallSucceeded", "" if there is none of the type.
func (b *bench) condition(name string) string {
	c := flux.Condition(b.hr.Status.Conditions, name)
	if c == nil {
		return ""
	}
	return c.Type + " " + string(c.Status) + " " + c.Reason
}

// stored returns the statuses of the records, oldest first.
func (b *bench) stored() string {
	b.t.Helper()
	list, err := b.records.CoreV1().Secrets("shop").List(b.t.Context(), metav1.ListOptions{LabelSelector: "owner=helm"})
	if err != nil {
		b.t.Fatal(err)
	}
	found := map[string]string{}
	for _, s := range list.Items {
		found[s.Labels["version"]] = s.Labels["status"]
	}
	var out []string
	for _, version := range slices.Sorted(maps.Keys(found)) {
		out = append(out, found[version])
	}
	return strings.Join(out, " ")
}

// all returns every text that passes have shown: conditions, events and the error.
func (b *bench) all(err error) string {
	var out strings.Builder
	for _, c := range b.hr.Status.Conditions {
		out.WriteString(c.Message + "\n")
	}
	for _, s := range b.reports {
		for _, c := range s.Conditions {
			out.WriteString(c.Message + "\n")
		}
	}
	for _, e := range b.events {
		out.WriteString(e.Message + "\n")
	}
	if err != nil {
		out.WriteString(err.Error())
	}
	return out.String()
}

func secret(name string, data map[string]string) *unstructured.Unstructured {
	encoded := map[string]any{}
	for key, text := range data {
		encoded[key] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name, "namespace": "shop"}, "data": encoded}}
}

var key = release.Key{Namespace: "shop", Name: "web"}

// lockedByAnother runs passes while somebody else is working on the release.
func (b *bench) lockedByAnother(passes func()) {
	b.t.Helper()
	free := b.lock()
	passes()
	free()
}

// lock takes the lock of the release for somebody else, until the returned function is called.
func (b *bench) lock() (free func()) {
	b.t.Helper()
	locker := releasestore.NewLocker(b.records.CoordinationV1(), releasestore.SystemClock{})
	held, err := locker.Lock(b.t.Context(), key, releasestore.NewIdentity("other"), releasestore.LockOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	return func() {
		b.t.Helper()
		if err := held.Release(b.t.Context()); err != nil {
			b.t.Fatal(err)
		}
	}
}
