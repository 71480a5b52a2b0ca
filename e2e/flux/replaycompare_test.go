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

// untouched are steps in which nobody makes a pass.
var untouched = map[string]string{
	"04c-values-watch/02":     "a ConfigMap without the label is not watched",
	"19-annotations/04":       "forceAt alone asks for no pass",
	"28-takeover-helm3/01":    "there is no HelmRelease yet",
	"28b-takeover-helm4/01":   "there is no HelmRelease yet",
	"28c-helm4-on-managed/02": "no pass yet",
}

// view is what of a step is compared.
type view struct {
	Conditions map[string]string
	Status     map[string]any
	History    []string
	Inventory  []string
	Records    []string
	Events     []string
	Objects    map[string]any
	// Unverified are revisions whose digest in the history is not the record's.
	Unverified []string
}

// corrected has the managers of traces with corrected drift as ours are: corrections are
// applied, not patched.
func (v *view) corrected() {
	for name, text := range v.Objects {
		text := strings.ReplaceAll(text.(string), `"helm-controller/Update"`, `"helm-controller/Apply"`)
		v.Objects[name] = strings.ReplaceAll(text, "   \"helm-controller/Apply\",\n   \"helm-controller/Apply\"", "   \"helm-controller/Apply\"")
	}
}

// ended leaves of a step whose attempts race a timeout what all its ends have alike: why it
// has stalled, what the newest revision was made for, and that something was remedied.
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
}

var (
	remedy   = regexp.MustCompile(`(?s)(?:True|False) (?:RollbackSucceeded|RollbackFailed) .*`)
	attempt  = regexp.MustCompile(`v\d+ \S+ (rollback .*)`)
	remedied = regexp.MustCompile(`\S+ Rollback(Succeeded|Failed)`)
)

// compare holds what is there against what was recorded.
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

// difference is that of what is there from what was recorded, "" for none.
func (r *replay) difference(step *fluxtest.Step) string {
	if step.Answer != "" {
		return ""
	}
	want, got := r.recorded(step), r.live(step)
	part := different[step.Name].part
	for _, v := range []*view{&want, &got} {
		if strings.HasPrefix(step.Name, "12") {
			v.corrected()
		}
		if strings.Contains(part, conditions) {
			v.Conditions, v.Status = nil, nil
		}
		if strings.Contains(part, objects) {
			v.Objects = nil
		}
		if strings.Contains(part, records) {
			v.Records = nil
		}
		if strings.Contains(part, events) {
			v.Events = nil
		}
		if strings.Contains(part, attempts) {
			v.ended()
		}
	}
	if replaced(step) { // a failed revision stays one, and is nothing to roll back to
		want.History, got.History = want.History[:min(1, len(want.History))], got.History[:min(1, len(got.History))]
	}
	return cmp.Diff(want, got)
}

// different are steps of which a part differs, on purpose or by chance.
var different = map[string]struct{ part, why string }{
	"07c-rollback-shares-timeout/02":  {attempts + records + objects, "a rollback races its timeout: how often it is tried is chance, and what stands at the end is compared"},
	"06b-post-render-separate/02":     {objects, "an object that was a resource and is a hook by now is not deleted as the resource"},
	"12b-drift-dry-run-fails/02":      {conditions, dryRun},
	"12b-drift-dry-run-fails/04":      {conditions, dryRun},
	"12c-drift-secret/03":             {conditions + objects + events, "a Secret that was changed is corrected, which helm-controller fails to do"},
	"15b-target-namespace/02":         {objects, leftBehind},
	"15c-target-namespace-foreign/02": {objects, "objects that belong to somebody else, in the new namespace, are not deleted"},
	"15c-target-namespace-foreign/03": {objects, leftBehind},
	"15c-target-namespace-foreign/04": {objects, leftBehind},
	"18-depends-on/03":                {events, "the passes of a step are made by name: the dependency is ready before the other is looked at again"},
	"18c-depends-on-cycle/01":         {conditions + events, "a circle of dependencies stalls, and is named"},
	"18c-depends-on-cycle/02":         {objects + records + events, "the other HelmRelease's next pass came later"},
	"18c-depends-on-cycle/03":         {events, "the other HelmRelease's next pass came later"},
}

const (
	conditions = "conditions "
	objects    = "objects "
	records    = "records "
	events     = "events "
	attempts   = "attempts "

	dryRun     = "an object of which no dry run can be made is unknown, and no reason not to be ready"
	leftBehind = "the old release's objects are looked for in its own namespace, and not left behind"
)

// until are steps from which on a trace differs on purpose, and why.
var until = map[string]string{
	"07d-upgrade-render-fails/04": "what the API server refuses in a dry run is not sent: no record, nothing to remedy",
	"15b-target-namespace/03":     "a namespace that is missing is told by the plan: no record, nothing to remedy",
}

// cause is what follows the fact in a message about a failure: ours has other words, which
// say more.
var cause = regexp.MustCompile(`(?s)((?:failed for release \S+ with chart \S+|with chart \S+ failed|Could not load chart|could not get Source object|Could not determine release state|ailed to resolve|reference '\S+' with key '\S+'|dependency|configuration error)): .*`)

// replaced says whether a failed revision was replaced by one that is up. Helm calls it
// superseded then, as one that was up.
func replaced(step *fluxtest.Step) bool {
	return slices.ContainsFunc(step.Records, func(r fluxtest.Record) bool { return failedOnce(r.Revision) })
}

func failedOnce(r *release.Revision) bool {
	return r.Info.Status == release.StatusSuperseded && (strings.Contains(r.Info.Description, "failed: ") || strings.HasPrefix(r.Info.Description, "Release unlocked"))
}

// fields are what our messages about drift name beside how many changes there are.
var fields = regexp.MustCompile(`( removals\)): [^\n]*`)

func message(text string) string {
	return fields.ReplaceAllString(cause.ReplaceAllString(text, "$1: …"), "$1")
}

func (v *view) fill(hr *flux.HelmRelease) {
	v.Conditions, v.Status = map[string]string{}, map[string]any{}
	if hr == nil {
		return
	}
	s := hr.Status
	for _, c := range s.Conditions {
		v.Conditions[c.Type] = fmt.Sprintf("%s %s gen %d: %s", c.Status, c.Reason, c.ObservedGeneration, message(c.Message))
	}
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
	data, _ := json.Marshal(s)
	_ = json.Unmarshal(data, &v.Status)
}

func (v *view) record(namespace string, r *release.Revision, labels map[string]string) {
	description := r.Info.Description
	if failedOnce(r) {
		r = r.WithStatus(release.StatusFailed, description)
	}
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
	if failedOnce(r) || r.Info.Status == release.StatusFailed {
		labels["status"] = string(release.StatusFailed)
	}
	data, _ := json.Marshal(labels)
	v.Records = append(v.Records, fmt.Sprintf("%s/%s v%d in %s %s %q %s %s %s %s\n%s", r.Namespace, r.Name, r.Version, namespace, r.Info.Status, description, r.ApplyMethod, chart, config, data, r.Manifest))
}

// assigned are what the API server makes up.
var assigned = regexp.MustCompile(`"(clusterIP)": "[^"]*"|(?:"clusterIPs": \[[^\]]*\])`)

var failure = regexp.MustCompile(`(?s)(failed): .*`)

// recorded is the view of the trace.
func (r *replay) recorded(step *fluxtest.Step) (v view) {
	v.fill(step.HelmRelease)
	v.Events = slices.Clone(step.Events)
	v.sortEvents()
	for _, record := range step.Records {
		v.record(record.StorageNamespace, record.Revision, record.Labels)
	}
	slices.Sort(v.Records)
	v.Objects = map[string]any{}
	for _, o := range step.Objects {
		v.object(&unstructured.Unstructured{Object: o})
	}
	return v
}

// live is the view of the control plane.
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
	v.Objects = map[string]any{}
	for _, gvr := range r.kinds(step) {
		for _, space := range r.spaces() {
			r.list(&v, gvr, space)
		}
	}
	return v
}

// sortEvents leaves each once, in no order: how often one comes back depends on time. Those of
// HelmCharts are told by whoever makes them.
func (v *view) sortEvents() {
	v.Events = slices.DeleteFunc(v.Events, func(e string) bool { return strings.Contains(e, " HelmChart") })
	slices.Sort(v.Events)
	v.Events = slices.Compact(v.Events)
	if len(v.Events) == 0 {
		v.Events = nil
	}
}

// verify holds the snapshots' digests against the record.
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

var always = []string{"v1/ConfigMap", "v1/Service", "apps/v1/Deployment", "batch/v1/Job"}

// kinds are those that are compared: of objects with names of their own.
func (r *replay) kinds(*fluxtest.Step) (out []resource) {
	for _, of := range always {
		i := strings.LastIndex(of, "/")
		o := &unstructured.Unstructured{}
		o.SetAPIVersion(of[:i])
		o.SetKind(of[i+1:])
		gvr, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
		out = append(out, gvr)
	}
	return out
}

func (r *replay) list(v *view, of resource, space string) {
	list, err := r.objects.Resource(of).Namespace(space).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, o := range list.Items {
		if o.GetName() == "kube-root-ca.crt" {
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

// object adds an object without what depends on the server, on controllers and on time.
func (v *view) object(o *unstructured.Unstructured) {
	key := o.GetAPIVersion() + "/" + o.GetKind()
	if !slices.Contains(always, key) {
		return
	}
	metadata := map[string]any{}
	from, _ := o.Object["metadata"].(map[string]any)
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
		if name := fmt.Sprint(m); !strings.HasPrefix(name, "kube-controller-manager") && !strings.HasPrefix(name, "testcluster") {
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
	if o.GetKind() == "Job" {
		out["spec"] = withoutController(o)
	}
	data, _ := json.MarshalIndent(out, "", " ")
	data = assigned.ReplaceAll(data, []byte(`"$1": "…"`))
	if o.GetAnnotations()[manifest.HookAnnotation] != "" { // hooks are created and not applied
		data = bytes.ReplaceAll(data, []byte("helm-controller/Update"), []byte("helm-controller/Apply"))
	}
	v.Objects[key+" "+o.GetNamespace()+"/"+o.GetName()] = string(data)
}

// withoutController is the spec of a Job without what its controller makes of its UID.
func withoutController(o *unstructured.Unstructured) map[string]any {
	spec, _, _ := unstructured.NestedMap(o.Object, "spec")
	delete(spec, "selector")
	for _, label := range []string{"controller-uid", "batch.kubernetes.io/controller-uid"} {
		unstructured.RemoveNestedField(spec, "template", "metadata", "labels", label)
	}
	return spec
}
