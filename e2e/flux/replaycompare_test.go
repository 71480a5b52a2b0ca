//go:build cluster

package flux_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/digest"
	"github.com/kubectl-release/kubectl-release/internal/fluxtest"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// untouched are the steps in which no pass is made, and why.
var untouched = map[string]string{
	"04c-values-watch/02":     "a ConfigMap without the label is not watched",
	"19-annotations/04":       "forceAt alone asks for no pass",
	"28-takeover-helm3/01":    "there is no HelmRelease yet",
	"28b-takeover-helm4/01":   "there is no HelmRelease yet",
	"28c-helm4-on-managed/02": "no pass yet",
}

// view is what is compared of a step.
type view struct {
	Conditions map[string]string
	Status     map[string]any
	History    []string
	Inventory  []string
	Records    []string
	Events     []string
	// Others are the conditions of other HelmReleases, if they were recorded after the step.
	Others map[string]map[string]string
	// Transitions and Notifications are compared where our passes are made without a process.
	Transitions   transitions
	Notifications []string
	Objects       map[string]any
	// Unverified are revisions whose digest in the history is not the record's.
	Unverified []string
}

// corrected gives traces with corrected drift our field managers: our corrections are applied, not
// patched.
func (v *view) corrected() {
	for name, text := range v.Objects {
		text := strings.ReplaceAll(text.(string), `"helm-controller/Update"`, `"helm-controller/Apply"`)
		v.Objects[name] = strings.ReplaceAll(text, "   \"helm-controller/Apply\",\n   \"helm-controller/Apply\"", "   \"helm-controller/Apply\"")
	}
}

// ended keeps of a step whose attempts race a timeout only what all its outcomes have in common: why it
// has stalled, what the newest revision was made for, and that something was remediated.
func (v *view) ended() {
	for name, text := range v.Conditions {
		v.Conditions[name] = remedy.ReplaceAllString(text, "Rollback…")
	}
	for _, name := range []string{"failures", "lastAttemptedRevisionDigest"} {
		delete(v.Status, name)
	}
	for i, line := range v.History {
		v.History[i] = attempt.ReplaceAllString(line, "$1")
	}
	v.History = v.History[:1]
	for i, e := range v.Events {
		v.Events[i] = remedied.ReplaceAllString(e, "a rollback")
	}
	slices.Sort(v.Events)
	v.Events = slices.Compact(v.Events)
	v.Transitions, v.Notifications = nil, nil
}

var (
	remedy   = regexp.MustCompile(`(?s)(?:True|False) (?:RollbackSucceeded|RollbackFailed) .*`)
	attempt  = regexp.MustCompile(`v\d+ \S+ (rollback .*)`)
	remedied = regexp.MustCompile(`\S+ Rollback(Succeeded|Failed)`)
)

// selected leaves out tests that were not run, and how many there are.
func (v *view) selected() {
	for name, text := range v.Conditions {
		v.Conditions[name] = counted.ReplaceAllString(text, "tests completed")
	}
	for i, line := range v.History {
		v.History[i] = unrun.ReplaceAllString(line, "")
	}
}

var (
	counted = regexp.MustCompile(`\d+ test hooks? completed`)
	unrun   = regexp.MustCompile(`,"[^"]*":""`)
)

// compare compares what is live with what was recorded.
func (r *replay) compare(step *fluxtest.Step) {
	diff := r.difference(step)
	if diff == "" {
		return
	}
	r.t.Errorf("%s (-want +got):\n%s", step.Name, diff)
	for _, e := range r.events {
		r.t.Logf("%s: event %s: %s", step.Name, e.Reason, e.Message)
	}
}

// difference returns the diff between what was recorded and what is live, "" for none.
func (r *replay) difference(step *fluxtest.Step) string {
	if step.Answer != "" {
		return ""
	}
	want, got := r.recorded(step), r.live(step)
	part := different[step.Name].part
	if r.served != nil {
		part += sooner[step.Name].part
	}
	for _, v := range []*view{&want, &got} {
		if strings.HasPrefix(step.Name, "12") {
			v.corrected()
		}
		if strings.Contains(part, conditions) {
			v.Conditions, v.Status, v.Transitions, v.Others = nil, nil, nil, nil
		}
		if strings.Contains(part, objects) {
			v.Objects = nil
		}
		if strings.Contains(part, records) {
			v.Records = nil
		}
		if strings.Contains(part, events) {
			v.Events, v.Notifications = nil, nil
		}
		if strings.Contains(part, attempts) {
			v.ended()
		}
		if strings.Contains(part, filtered) {
			v.selected()
		}
	}
	if i := slices.Index(r.trace.Steps, step); i > 0 && strings.Contains(different[r.trace.Steps[i-1].Name].part, conditions) {
		want.Transitions, got.Transitions = nil, nil // they begin with what differs
	}
	if !slices.Contains(step.Events, notReady) { // it is chance whether a dependency is looked at once more before it is ready
		got.Events = slices.DeleteFunc(got.Events, func(e string) bool { return e == notReady })
		got.Notifications = slices.DeleteFunc(got.Notifications, func(n string) bool { return strings.Contains(n, " DependencyNotReady ") })
	}
	return cmp.Diff(want, got)
}

// different are steps in which a part differs, on purpose or by chance.
var different = map[string]struct{ part, why string }{
	"07c-rollback-shares-timeout/02":  {attempts + records + objects, "a rollback races its timeout: how often it is tried is chance, and what stands at the end is compared"},
	"11-tests/06":                     {filtered, "a test that a filter leaves out is neither in the history nor counted, as in helm-controller 1.6.3"},
	"12c-drift-secret/03":             {conditions + objects + events, "a Secret that was changed is corrected, which helm-controller fails to do"},
	"15c-target-namespace-foreign/02": {objects, foreign},
	"15c-target-namespace-foreign/03": {objects, foreign},
	"15c-target-namespace-foreign/04": {objects, foreign},
}

// sooner are steps in which the process is ahead of what was recorded.
var sooner = map[string]struct{ part, why string }{
	"18c-depends-on-cycle/02": {conditions + objects + records + events, watched},
	"18c-depends-on-cycle/03": {events, watched},
}

const watched = "the process looks at who waits as soon as the dependency is ready, and not up to 30 s later"

// notReady is the event of a HelmRelease that waits for others.
const notReady = "Normal DependencyNotReady"

const (
	conditions = "conditions "
	objects    = "objects "
	records    = "records "
	events     = "events "
	attempts   = "attempts "
	filtered   = "filtered "

	foreign = "objects that belong to somebody else, in the new namespace, are not deleted"
)

// cause matches what follows the fact in a message about a failure: our wording is different and says
// more.
var cause = regexp.MustCompile(`(?s)((?:failed for release \S+ with chart \S+|with chart \S+ failed|Could not load chart|could not get Source object|Could not determine release state|ailed to resolve|reference '\S+' with key '\S+'|dependency|configuration error)): .*`)

// fields matches what our messages about drift name besides the number of changes.
var fields = regexp.MustCompile(`( removals\)): [^\n]*`)

func message(text string) string {
	return fields.ReplaceAllString(cause.ReplaceAllString(text, "$1: …"), "$1")
}

func conditionsOf(hr *flux.HelmRelease) map[string]string {
	out := map[string]string{}
	for _, c := range hr.Status.Conditions {
		out[c.Type] = fmt.Sprintf("%s %s gen %d: %s", c.Status, c.Reason, c.ObservedGeneration, message(c.Message))
	}
	return out
}

// others returns the other HelmReleases that were recorded after the step.
func (r *replay) others(step *fluxtest.Step) []*flux.HelmRelease {
	if i := slices.Index(r.trace.Steps, step); i > 0 && slices.Equal(r.trace.Steps[i-1].Others, step.Others) {
		return nil
	}
	return step.Others
}

func (v *view) fill(hr *flux.HelmRelease) {
	v.Conditions, v.Status, v.Others = map[string]string{}, map[string]any{}, map[string]map[string]string{}
	if hr == nil {
		return
	}
	s := hr.Status
	v.Conditions = conditionsOf(hr)
	for _, h := range s.History {
		line := fmt.Sprintf("%s/%s v%d %s %s %s@%s app %s config %s oci %s", h.Namespace, h.Name, h.Version, h.Status, h.Action, h.ChartName, h.ChartVersion, h.AppVersion, h.ConfigDigest, h.OCIDigest)
		if h.TestHooks != nil {
			phases := map[string]string{}
			for name, t := range h.TestHooks {
				phases[name] = t.Phase
			}
			data, _ := json.Marshal(phases)
			line += " tests " + string(data)
		}
		v.History = append(v.History, line)
	}
	if s.Inventory != nil {
		for _, e := range s.Inventory.Entries {
			v.Inventory = append(v.Inventory, e.ID+" "+e.Version)
		}
		slices.Sort(v.Inventory)
	}
	s.Conditions, s.History, s.Inventory, s.LastAttemptedReleaseActionDuration = nil, nil, nil, nil
	if flux.Condition(hr.Status.Conditions, "Reconciling") != nil {
		s.Failures = 0 // how often an error has come back
	}
	s.Failures = min(s.Failures, s.InstallFailures+s.UpgradeFailures+1) // nor are failures without a record compared
	data, _ := json.Marshal(s)
	_ = json.Unmarshal(data, &v.Status)
}

func (v *view) record(namespace string, r *release.Revision, labels map[string]string) {
	description := r.Info.Description
	if r.Info.Status == release.StatusFailed || strings.Contains(description, "failed: ") {
		description = failure.ReplaceAllString(description, "$1: …")
	}
	config, _ := digest.Values(r.Config)
	chart := ""
	if r.Chart != nil && r.Chart.Metadata != nil {
		chart = r.Chart.Metadata.Name + "@" + r.Chart.Metadata.Version
	}
	labels = maps.Clone(labels)
	for _, name := range []string{"createdAt", "modifiedAt"} {
		delete(labels, name)
	}
	data, _ := json.Marshal(labels)
	v.Records = append(v.Records, fmt.Sprintf("%s/%s v%d in %s %s %q %s %s %s %s\n%s", r.Namespace, r.Name, r.Version, namespace, r.Info.Status, description, r.ApplyMethod, chart, config, data, r.Manifest))
}

// assigned matches what the API server makes up.
var assigned = regexp.MustCompile(`"(clusterIP)": "[^"]*"|(?:"clusterIPs": \[[^\]]*\])`)

var failure = regexp.MustCompile(`(?s)(failed): .*`)

// recorded returns the view of a step in the trace.
func (r *replay) recorded(step *fluxtest.Step) (v view) {
	v.fill(step.HelmRelease)
	for _, hr := range r.others(step) {
		v.Others[hr.String()] = conditionsOf(hr)
	}
	v.Events = slices.Clone(step.Events)
	v.sortEvents()
	for _, record := range step.Records {
		v.record(record.StorageNamespace, record.Revision, record.Labels)
	}
	slices.Sort(v.Records)
	if r.served == nil {
		v.Transitions = r.recordedTransitions(step)
		for _, n := range step.Notifications {
			if n.Severity != "trace" {
				v.Notifications = append(v.Notifications, n.String())
			}
		}
		slices.Sort(v.Notifications)
		v.Notifications = slices.Compact(v.Notifications)
	}
	v.Objects = map[string]any{}
	for _, o := range step.Objects {
		v.object(&unstructured.Unstructured{Object: o})
	}
	return v
}

// live returns the view of a step on the control plane.
func (r *replay) live(step *fluxtest.Step) (v view) {
	ctx := context.Background()
	var hr *flux.HelmRelease
	name, namespace := "web", r.spaces()[0]
	if step.HelmRelease != nil {
		name, namespace = step.HelmRelease.Metadata.Name, step.HelmRelease.Metadata.Namespace
	}
	if o := r.get(helmReleases, namespace, name); o != nil {
		var err error
		if hr, err = flux.DecodeHelmRelease(o.Object); err != nil {
			r.t.Fatal(err)
		}
	}
	v.fill(hr)
	for _, other := range r.others(step) {
		o := r.get(helmReleases, other.Metadata.Namespace, other.Metadata.Name)
		if o == nil {
			continue
		}
		now, err := flux.DecodeHelmRelease(o.Object)
		if err != nil {
			r.t.Fatal(err)
		}
		v.Others[now.String()] = conditionsOf(now)
	}
	for _, space := range r.spaces() {
		list, err := r.local.CoreV1().Secrets(space).List(ctx, metav1.ListOptions{LabelSelector: "owner=helm"})
		if err != nil {
			r.t.Fatal(err)
		}
		for i := range list.Items {
			record := &release.Revision{}
			if err := json.Unmarshal(r.unpacked(&list.Items[i]), record); err != nil {
				r.t.Fatal(err)
			}
			r.verify(&v, step, hr, record)
			v.record(space, record, list.Items[i].Labels)
		}
	}
	slices.Sort(v.Records)
	for _, e := range r.events {
		text := "Normal " + e.Reason
		if e.Warning {
			text = "Warning " + e.Reason
		}
		v.Events = append(v.Events, text)
	}
	v.sortEvents()
	if r.served == nil {
		if hr == nil && len(r.statuses) > 0 {
			r.statuses = append(r.statuses, flux.HelmReleaseStatus{})
		}
		v.Transitions, v.Notifications = writtenTransitions(r.statuses), notifications(r.events)
	}
	v.Objects = map[string]any{}
	for _, kind := range compared {
		if kind == crdKind {
			r.list(&v, resourceOf(kind), "")
			continue
		}
		for _, space := range r.spaces() {
			r.list(&v, resourceOf(kind), space)
		}
	}
	return v
}

// sortEvents sorts the events and keeps each once: how often one repeats depends on timing. Those about
// HelmCharts are dropped: whoever makes the charts sends them.
func (v *view) sortEvents() {
	v.Events = slices.DeleteFunc(v.Events, func(e string) bool { return strings.Contains(e, " HelmChart") })
	slices.Sort(v.Events)
	v.Events = slices.Compact(v.Events)
	if len(v.Events) == 0 {
		v.Events = nil
	}
}

// verify checks the snapshots' digests against the record.
func (r *replay) verify(v *view, step *fluxtest.Step, hr *flux.HelmRelease, record *release.Revision) {
	if hr == nil || untouched[step.Name] != "" {
		return
	}
	for _, h := range hr.Status.History {
		if h.Name == record.Name && h.Version == record.Version && h.Status == string(record.Info.Status) {
			if same, err := digest.VerifyRecord(h, record); err != nil || !same {
				v.Unverified = append(v.Unverified, fmt.Sprintf("revision %d (%v)", h.Version, err))
			}
		}
	}
}

// compared are the kinds of objects that are compared: those that occur in traces.
var compared = []string{
	"v1/ConfigMap", "v1/Secret", "v1/Service", "v1/ServiceAccount", "v1/Pod", "apps/v1/Deployment", "batch/v1/Job", crdKind,
}

const crdKind = "apiextensions.k8s.io/v1/CustomResourceDefinition"

// resourceOf returns the resource of a kind that is given with its group and version.
func resourceOf(of string) resource {
	i := strings.LastIndex(of, "/")
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(of[:i])
	o.SetKind(of[i+1:])
	gvr, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
	return gvr
}

// ofOthers reports whether the recorder leaves an object out: release records, tokens, what a
// controller has made, and what every namespace has.
func ofOthers(o *unstructured.Unstructured) bool {
	switch o.GetKind() {
	case "Secret":
		return o.GetLabels()["owner"] == "helm" || o.GetName() == "kubeconfig"
	case "ServiceAccount":
		return o.GetName() == "default"
	case "ConfigMap":
		return o.GetName() == "kube-root-ca.crt"
	}
	return len(o.GetOwnerReferences()) > 0
}

func (r *replay) list(v *view, of resource, space string) {
	list, err := r.objects.Resource(of).Namespace(space).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, o := range list.Items {
		if ofOthers(&o) || space == "" && !r.scenarios(&o) {
			continue
		}
		var managers []any
		for _, m := range o.GetManagedFields() {
			name := m.Manager + "/" + string(m.Operation)
			if m.Subresource != "" {
				name += "/" + m.Subresource
			}
			managers = append(managers, name)
		}
		metadata := o.Object["metadata"].(map[string]any)
		metadata["managers"] = managers
		v.object(&o)
	}
}

// scenarios reports whether a CRD is one of the trace's, whose groups begin with its namespace.
func (r *replay) scenarios(crd *unstructured.Unstructured) bool {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	return slices.ContainsFunc(r.spaces(), func(space string) bool { return strings.HasPrefix(group, space+".") })
}

// object adds an object without what depends on the server, on controllers or on time.
func (v *view) object(o *unstructured.Unstructured) {
	key := o.GetAPIVersion() + "/" + o.GetKind()
	if !slices.Contains(compared, key) {
		return
	}
	metadata := map[string]any{}
	from, _ := o.Object["metadata"].(map[string]any)
	if labels := o.GetLabels(); o.GetKind() == "Pod" { // the scheduler's
		delete(labels, "topology.kubernetes.io/zone")
		delete(labels, "topology.kubernetes.io/region")
		o.SetLabels(labels)
	}
	for _, name := range []string{"labels", "finalizers"} {
		if from[name] != nil {
			metadata[name] = from[name]
		}
	}
	if annotations := o.GetAnnotations(); len(annotations) > 0 {
		delete(annotations, "deployment.kubernetes.io/revision")
		if len(annotations) > 0 {
			metadata["annotations"] = annotations
		}
	}
	var managers []string
	all, _ := from["managers"].([]any)
	for _, m := range all {
		if name := fmt.Sprint(m); !slices.ContainsFunc(components, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			if strings.HasPrefix(name, "kubectl-") { // the recorder had no name
				name = "unknown/Update"
			}
			managers = append(managers, name)
		}
	}
	slices.Sort(managers)
	managers = slices.Compact(managers)
	metadata["managers"] = managers
	out := map[string]any{"metadata": metadata}
	for name, value := range o.Object {
		if name != "metadata" && name != "status" && name != "apiVersion" && name != "kind" {
			out[name] = value
		}
	}
	switch o.GetKind() {
	case "Job":
		out["spec"] = withoutController(o)
	case "Pod":
		delete(out, "spec") // not recorded
		out["phase"], _, _ = unstructured.NestedString(o.Object, "status", "phase")
	}
	data, _ := json.MarshalIndent(out, "", " ")
	data = assigned.ReplaceAll(data, []byte(`"$1": "…"`))
	if o.GetAnnotations()[manifest.HookAnnotation] != "" { // hooks are created and not applied
		data = bytes.ReplaceAll(data, []byte("helm-controller/Update"), []byte("helm-controller/Apply"))
	}
	v.Objects[key+" "+o.GetNamespace()+"/"+o.GetName()] = string(data)
}

// components are field managers other than the release's.
var components = []string{"kube-controller-manager", "kube-apiserver", "kube-scheduler", "kwok", "testcluster"}

// withoutController returns the spec of a Job without what its controller derives from its UID.
func withoutController(o *unstructured.Unstructured) map[string]any {
	spec, _, _ := unstructured.NestedMap(o.Object, "spec")
	delete(spec, "selector")
	for _, label := range []string{"controller-uid", "batch.kubernetes.io/controller-uid"} {
		unstructured.RemoveNestedField(spec, "template", "metadata", "labels", label)
	}
	return spec
}
