package drift_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/drift"
	"github.com/kubectl-release/kubectl-release/plan"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	if text == "" {
		return nil
	}
	out := &unstructured.Unstructured{}
	full := "{apiVersion: apps/v1, kind: Deployment, " + text + "}"
	if err := yaml.Unmarshal([]byte(full), &out.Object); err != nil {
		t.Fatalf("%s: %v", full, err)
	}
	return out
}

const named = "metadata: {name: web, namespace: apps, labels: {app: web}}"

// What spec.driftDetection leaves alone (FLUX.md §4): live is the object as it is, sent the
// manifest's, and after what applying it would produce.
func TestOverlook(t *testing.T) {
	const (
		live  = named + ", spec: {replicas: 5, paused: true, template: {spec: {containers: [{name: a, image: hand}, {name: b, image: b}]}}}"
		sent  = named + ", spec: {replicas: 1, template: {spec: {containers: [{name: a, image: a}, {name: b, image: b}]}}}"
		after = named + ", spec: {replicas: 1, paused: true, template: {spec: {containers: [{name: a, image: a}, {name: b, image: b}]}}}"
	)
	const replicas, image = "spec.replicas", "spec.template.spec.containers[a].image"
	for _, c := range []struct {
		why, ignore string
		left        []string
	}{
		{"nothing is ignored", "", []string{replicas, image}},
		{"a path", "[{paths: [/spec/replicas]}]", []string{image}},
		{"paths of several rules", "[{paths: [/spec/replicas]}, {paths: [/spec/template/spec/containers/0/image]}]", nil},
		{"all that is below a path", "[{paths: [/spec/template]}]", []string{replicas}},
		{"the item of a list that does not exist", "[{paths: [/spec/template/spec/containers/7/image, /spec/template/spec/containers/-/image]}]", []string{replicas, image}},
		{"a path that nobody has", "[{paths: [/spec/nobody/has, /data]}]", []string{replicas, image}},
		{"a kind, by an expression that has to fit the whole name", "[{paths: [/spec/replicas], target: {kind: Deploy}}]", []string{replicas, image}},
		{"which it does", "[{paths: [/spec/replicas], target: {kind: 'Deploy.*|StatefulSet'}}]", []string{image}},
		{"all that a target says has to fit", "[{paths: [/spec/replicas], target: {kind: Deployment, name: other}}]", []string{replicas, image}},
		{"group, version, namespace and name", "[{paths: [/spec/replicas], target: {group: apps, version: v1, namespace: a.*, name: web}}]", []string{image}},
		{"labels", "[{paths: [/spec/replicas], target: {labelSelector: 'app in (web, shop)'}}]", []string{image}},
		{"other labels", "[{paths: [/spec/replicas], target: {labelSelector: app!=web}}]", []string{replicas, image}},
		{"annotations", "[{paths: [/spec/replicas], target: {annotationSelector: a=b}}]", []string{replicas, image}},
	} {
		s := step(t, live, sent, after)
		overlook(s, ignoring(t, c.ignore).Overlook(s))
		var left []string
		for _, change := range s.Changes {
			left = append(left, change.Path)
		}
		if !slices.Equal(left, c.left) {
			t.Errorf("%s: %q is left, want %q", c.why, left, c.left)
		}
		if got := fmt.Sprint(s.After.Object["spec"]); len(c.left) == 0 && got != fmt.Sprint(s.Before.Object["spec"]) {
			t.Errorf("%s: after %s, want what was before", c.why, got)
		}
	}
}

// An ignored path is sent as it is live if the manifest has it or if the apply would remove it, and
// otherwise not at all: somebody else's field does not become ours.
func TestWhatIsSentOfIgnoredPaths(t *testing.T) {
	for _, c := range []struct{ why, live, sent, after, want string }{
		{"the manifest has it", "spec: {replicas: 5}", "spec: {replicas: 1}", "spec: {replicas: 1}", "map[replicas:5]"},
		{"the manifest has it, and it is gone", "spec: {}", "spec: {replicas: 1}", "spec: {replicas: 1}", "map[]"},
		{"an autoscaler's", "spec: {replicas: 5}", "spec: {paused: true}", "spec: {replicas: 5, paused: true}", "map[paused:true]"},
		{"the apply takes it away", "spec: {replicas: 5}", "spec: {paused: true}", "spec: {paused: true}", "map[paused:true replicas:5]"},
	} {
		s := step(t, named+", "+c.live, named+", "+c.sent, named+", "+c.after)
		overlook(s, ignoring(t, "[{paths: [/spec/replicas]}]").Overlook(s))
		if got := fmt.Sprint(s.Body.Object["spec"]); got != c.want {
			t.Errorf("%s: %s, want %s", c.why, got, c.want)
		}
	}
}

// Names in a JSON pointer may contain / and ~, and labels and annotations that the manifest does not
// have stay.
func TestOverlookedMetadata(t *testing.T) {
	const live = "metadata: {name: web, annotations: {a/b: '1', 'c~d': '1', hand: '1'}, labels: {hand: '1'}}"
	const sent = "metadata: {name: web, annotations: {a/b: '2', 'c~d': '2'}}"
	s := step(t, live, sent, sent)
	overlook(s, ignoring(t, "[{paths: [/metadata/annotations/a~1b]}]").Overlook(s))
	if len(s.Changes) != 1 || !strings.Contains(s.Changes[0].Path, "c~d") {
		t.Errorf("%+v", s.Changes)
	}
	overlook(s, ignoring(t, "[{paths: [/metadata/annotations/c~0d]}]").Overlook(s))
	if len(s.Changes) != 0 {
		t.Errorf("%+v", s.Changes)
	}
}

// Of metadata only labels and annotations are compared; other fields are sent as they are live.
func TestFieldsThatAreNotCompared(t *testing.T) {
	for _, c := range []struct{ why, live, sent, after, want, changed string }{
		{
			"the manifest has finalizers", "metadata: {name: web, labels: {a: '1'}, finalizers: [hand]}, spec: {replicas: 1}",
			"metadata: {name: web, labels: {a: '2'}, finalizers: [own]}, spec: {replicas: 2}", "metadata: {name: web, labels: {a: '2'}, finalizers: [own]}, spec: {replicas: 2}",
			"map[finalizers:[hand] labels:map[a:2] name:web]", "metadata.labels.a spec.replicas",
		},
		{
			"finalizers are gone", "metadata: {name: web}, spec: {replicas: 1}",
			"metadata: {name: web, finalizers: [own]}, spec: {replicas: 2}", "metadata: {name: web, finalizers: [own]}, spec: {replicas: 2}",
			"map[name:web]", "spec.replicas",
		},
		{
			"owners that stay", "metadata: {name: web, ownerReferences: [{name: a, uid: u}]}, spec: {replicas: 1}",
			"metadata: {name: web}, spec: {replicas: 2}", "metadata: {name: web, ownerReferences: [{name: a, uid: u}]}, spec: {replicas: 2}",
			"map[name:web]", "spec.replicas",
		},
		{
			"owners that the apply would remove", "metadata: {name: web, ownerReferences: [{name: a, uid: u}]}, spec: {replicas: 1}",
			"metadata: {name: web}, spec: {replicas: 2}", "metadata: {name: web}, spec: {replicas: 2}",
			"map[name:web ownerReferences:[map[name:a uid:u]]]", "spec.replicas",
		},
	} {
		s := step(t, c.live, c.sent, c.after)
		overlook(s, ignoring(t, "").Overlook(s))
		var changed []string
		for _, change := range s.Changes {
			changed = append(changed, change.Path)
		}
		if got := strings.Join(changed, " "); got != c.changed {
			t.Errorf("%s: %q is left, want %q", c.why, got, c.changed)
		}
		if got := fmt.Sprint(s.Body.Object["metadata"]); got != c.want {
			t.Errorf("%s: %s is sent, want %s", c.why, got, c.want)
		}
		for _, field := range []string{"finalizers", "ownerReferences"} {
			if is, was := s.After.Object["metadata"].(map[string]any)[field], s.Before.Object["metadata"].(map[string]any)[field]; fmt.Sprint(is) != fmt.Sprint(was) {
				t.Errorf("%s: %s after: %v, want %v", c.why, field, is, was)
			}
		}
	}
}

// An object whose label or annotation says so, in the manifest or live, or which a rule with the path "" selects,
// is left alone, changed or deleted.
func TestObjectsThatAreNotCompared(t *testing.T) {
	mark := func(where, value string) string {
		return "metadata: {name: web, " + where + ": {helm.toolkit.fluxcd.io/driftDetection: " + value + "}}, spec: {replicas: 1}"
	}
	const plain = "metadata: {name: web}, spec: {replicas: 2}"
	for _, c := range []struct {
		why, live, sent, ignore string
		left                    bool
	}{
		{"a label of the manifest", plain, mark("labels", "disabled"), "", true},
		{"an annotation of the manifest", plain, mark("annotations", "disabled"), "", true},
		{"an annotation of the live object", mark("annotations", "disabled"), plain, "", true},
		{"deleted", "", mark("labels", "disabled"), "", true},
		{"another value", plain, mark("labels", "enabled"), "", false},
		{"nothing", "", plain, "", false},
		{"the whole object is ignored", mark("labels", "enabled"), plain, "[{paths: [''], target: {kind: Deployment}}]", true},
		{"the whole object is ignored, and deleted", "", plain, "[{paths: [/spec, '']}]", true},
		{"the whole of another kind is ignored", "", plain, "[{paths: [''], target: {kind: Job}}]", false},
	} {
		s := step(t, c.live, c.sent, c.sent)
		overlook(s, ignoring(t, c.ignore).Overlook(s))
		if left := s.Op == plan.OpNone && len(s.Changes) == 0; left != c.left {
			t.Errorf("%s: %s %+v, left alone: %t", c.why, s.Op, s.Changes, left)
		}
	}
}

// overlook turns a step into what plan.Build makes of it.
func overlook(s *plan.Step, left plan.Overlooked) {
	switch {
	case left.All:
		s.Op, s.Changes = plan.OpNone, nil
	case left.Sent != nil:
		s.Body, s.After, s.Changes = left.Sent, left.After, left.Changes
	}
}

// step returns one that corrects drift.
func step(t *testing.T, live, sent, after string) *plan.Step {
	t.Helper()
	s := &plan.Step{Op: plan.OpPatch, Before: object(t, live), Body: object(t, sent), After: object(t, after)}
	if s.Before == nil {
		s.Op = plan.OpCreate
		return s
	}
	for _, c := range fielddiff.Compare(s.Before.Object, s.After.Object) {
		s.Changes = append(s.Changes, plan.Change{Path: c.Path, From: c.From, To: c.To})
	}
	return s
}

// ignoring returns the compiled rules of spec.driftDetection.ignore.
func ignoring(t *testing.T, rules string) drift.Rules {
	t.Helper()
	out, err := compiled(t, rules)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func compiled(t *testing.T, rules string) (drift.Rules, error) {
	t.Helper()
	hr := &flux.HelmRelease{}
	detection := "{mode: enabled}"
	if rules != "" {
		detection = "{mode: enabled, ignore: " + rules + "}"
	}
	if err := yaml.Unmarshal([]byte("driftDetection: "+detection), &hr.Spec); err != nil {
		t.Fatal(err)
	}
	return drift.Compile(hr)
}

// A rule whose target can't be read is an error: without it, what it protects would be corrected.
func TestRulesThatCantBeRead(t *testing.T) {
	for _, field := range []string{"group", "version", "kind", "namespace", "name", "labelSelector", "annotationSelector"} {
		_, err := compiled(t, "[{paths: [/data]}, {paths: [/spec/replicas], target: {"+field+": '('}}]")
		if err == nil || !strings.HasPrefix(err.Error(), "spec.driftDetection.ignore[1].target."+field+": ") {
			t.Errorf("%s: %v", field, err)
		}
	}
}
