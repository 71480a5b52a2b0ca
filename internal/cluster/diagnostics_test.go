package cluster_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// podOf returns a crashing pod of the revision in its label.
func podOf(name, created, label, revision string) map[string]any {
	p := withStatus(pod(name, created, "main"), map[string]any{
		"name": "main", "state": map[string]any{"waiting": map[string]any{"reason": "CrashLoopBackOff"}},
	})
	p["metadata"].(map[string]any)["labels"] = map[string]any{label: revision}
	return p
}

// holder returns the object that holds a revision of the workload: a ReplicaSet, whose number is
// an annotation, or a ControllerRevision.
func holder(name, owner, label, hash, number string) map[string]any {
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": map[string]any{
			"name": name, "namespace": "shop", "labels": map[string]any{label: hash},
			"annotations":     map[string]any{"deployment.kubernetes.io/revision": number},
			"ownerReferences": []any{map[string]any{"uid": owner, "controller": true, "kind": "x", "name": "x", "apiVersion": "apps/v1"}},
		},
	}
}

func items(kind string, items ...map[string]any) map[string]any {
	return map[string]any{"kind": kind + "List", "apiVersion": "apps/v1", "metadata": map[string]any{}, "items": items}
}

// workload serves an apps/v1 object "web" with the generation; its controller has observed
// generation 2.
func (s *server) workload(kind string, generation, replicas int, status map[string]any) apply.Ref {
	plural := strings.ToLower(kind) + "s"
	s.reply("GET /apis/apps/v1", resources("apps/v1", plural+" "+kind, "replicasets ReplicaSet", "controllerrevisions ControllerRevision"))
	status["observedGeneration"] = 2
	s.reply("GET /apis/apps/v1/namespaces/shop/"+plural+"/web", map[string]any{
		"apiVersion": "apps/v1", "kind": kind, "metadata": map[string]any{"name": "web", "namespace": "shop", "uid": "u", "generation": generation},
		"spec": map[string]any{"replicas": replicas, "selector": map[string]any{"matchLabels": map[string]any{"app": "web"}}}, "status": status,
	})
	return apply.Ref{ID: manifest.ID{Group: "apps", Kind: kind, Namespace: "shop", Name: "web"}, Version: "v1"}
}

// The state of an older revision is not a reason why the newest is not ready.
func TestDiagnosticsAreOfTheNewestRevision(t *testing.T) {
	const hash, revision = "pod-template-hash", "controller-revision-hash"
	early, late := "2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z"
	since := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	replicaSets := items("ReplicaSet", holder("web-good", "u", hash, "good", "12"), holder("web-bad", "u", hash, "bad", "9"), holder("web-else", "v", hash, "else", "13"))
	numbered := func(name string, n int64) map[string]any {
		h := holder("web-"+name, "u", revision, name, "")
		h["kind"], h["revision"] = "ControllerRevision", n
		return h
	}
	for _, test := range []struct {
		name       string
		kind       string
		generation int
		more       int // replicas besides the first
		status     map[string]any
		serve      func(*server)
		pods       []map[string]any
		want       []string
	}{
		{
			name: "a Deployment's ReplicaSets are told apart by their revision, not their age", kind: "Deployment", generation: 2,
			serve: func(s *server) { s.reply("GET /apis/apps/v1/namespaces/shop/replicasets", replicaSets) },
			pods:  []map[string]any{podOf("web-good-1", early, hash, "good"), podOf("web-bad-1", late, hash, "bad")},
			want:  []string{"Pod/web-good-1: container main is waiting: CrashLoopBackOff", "Pod/web-good-1: BackOff: now"},
		},
		{
			name: "as long as the write is not observed, nothing is of it", kind: "Deployment", generation: 3,
			serve: func(s *server) { s.reply("GET /apis/apps/v1/namespaces/shop/replicasets", replicaSets) },
			pods:  []map[string]any{podOf("web-good-1", early, hash, "good"), podOf("web-bad-1", late, hash, "bad")},
		},
		{
			name: "a ReplicaSet without pods is asked, the older one is not", kind: "Deployment", generation: 2,
			serve: func(s *server) { s.reply("GET /apis/apps/v1/namespaces/shop/replicasets", replicaSets) },
			pods:  []map[string]any{podOf("web-bad-1", late, hash, "bad")},
			want:  []string{"ReplicaSet/web-good: FailedCreate: now"},
		},
		{
			name: "a ReplicaSet with too few pods is asked, too", kind: "Deployment", generation: 2, more: 1,
			serve: func(s *server) { s.reply("GET /apis/apps/v1/namespaces/shop/replicasets", replicaSets) },
			pods:  []map[string]any{podOf("web-good-1", late, hash, "good"), podOf("web-bad-1", late, hash, "bad")},
			want: []string{
				"ReplicaSet/web-good: FailedCreate: now",
				"Pod/web-good-1: container main is waiting: CrashLoopBackOff", "Pod/web-good-1: BackOff: now",
			},
		},
		{
			name: "without the right to see ReplicaSets, the time of the write decides", kind: "Deployment", generation: 2,
			serve: func(s *server) {
				s.refuse("GET /apis/apps/v1/namespaces/shop/replicasets", http.StatusForbidden, metav1.StatusReasonForbidden, "no")
			},
			pods: []map[string]any{podOf("web-good-1", late, hash, "good"), podOf("web-bad-1", early, hash, "bad")},
			want: []string{"Pod/web-good-1: container main is waiting: CrashLoopBackOff", "Pod/web-good-1: BackOff: now"},
		},
		{
			name: "a DaemonSet's ControllerRevisions are numbered", kind: "DaemonSet", generation: 2,
			serve: func(s *server) {
				s.reply("GET /apis/apps/v1/namespaces/shop/controllerrevisions", items("ControllerRevision", numbered("bad", 2), numbered("good", 3)))
			},
			pods: []map[string]any{podOf("web-good-1", early, revision, "good"), podOf("web-bad-1", late, revision, "bad")},
			want: []string{"Pod/web-good-1: container main is waiting: CrashLoopBackOff", "Pod/web-good-1: BackOff: now"},
		},
		{
			name: "a StatefulSet says it, and what is in the way is called so", kind: "StatefulSet", generation: 2,
			status: map[string]any{"updateRevision": "web-good"}, serve: func(*server) {},
			pods: []map[string]any{podOf("web-good-1", early, revision, "web-good"), podOf("web-bad-1", late, revision, "web-bad")},
			want: []string{
				"Pod/web-good-1: container main is waiting: CrashLoopBackOff", "Pod/web-good-1: BackOff: now",
				"Pod/web-bad-1: container main is waiting: CrashLoopBackOff (pod of an earlier revision; the controller waits for it before replacing it)",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t)
			s.logging(nil, test.pods...)
			if test.status == nil {
				test.status = map[string]any{}
			}
			ref := s.workload(test.kind, test.generation, 1+test.more, test.status)
			test.serve(s)
			s.warnings()
			if diff := cmp.Diff(test.want, s.connect(t).Diagnose(t.Context(), ref, since).Text()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// A refusal of pods is told once, though each attempt to create one has another name.
func TestRefusalsOfPodsAreToldOnce(t *testing.T) {
	s := newServer(t)
	ref := s.workload("Deployment", 2, 2, map[string]any{})
	s.logging(nil)
	s.reply("GET /apis/apps/v1/namespaces/shop/replicasets", items("ReplicaSet", holder("web-1f", "u", "pod-template-hash", "1f", "1")))
	var events []any
	for _, message := range []string{
		`Error creating: pods "web-1f-x7k2p" is forbidden: exceeded quota: q`,
		`Error creating: pods "web-1f-zzj54" is forbidden: exceeded quota: q`,
		`(combined from similar events): Error creating: pods "web-1f-4gzst" is forbidden: exceeded quota: q`,
	} {
		events = append(events, map[string]any{
			"reason": "FailedCreate", "message": message, "lastTimestamp": "2026-01-02T00:00:00Z",
			"involvedObject": map[string]any{"kind": "ReplicaSet", "name": "web-1f"}, "metadata": map[string]any{"name": "web-1f"},
		})
	}
	s.reply("GET /api/v1/namespaces/shop/events", map[string]any{"kind": "EventList", "apiVersion": "v1", "items": events})
	got := s.connect(t).Diagnose(t.Context(), ref, time.Time{}).Text()
	want := []string{`ReplicaSet/web-1f: FailedCreate: Error creating: pods "web-1f-" is forbidden: exceeded quota: q`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// warnings serves one event from before the write and one from after for every object
// of the test.
func (s *server) warnings() {
	event := func(kind, name, reason, message, at string) map[string]any {
		return map[string]any{
			"reason": reason, "message": message, "lastTimestamp": at,
			"involvedObject": map[string]any{"kind": kind, "name": name}, "metadata": map[string]any{"name": name},
		}
	}
	const then, now = "2026-01-01T23:59:59Z", "2026-01-02T00:00:00Z"
	s.answers["GET /api/v1/namespaces/shop/events"] = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		var events []any
		selector := r.URL.Query().Get("fieldSelector")
		for _, name := range []string{"web-good-1", "web-bad-1"} {
			if strings.Contains(selector, "involvedObject.kind=Pod") {
				events = append(events, event("Pod", name, "FailedScheduling", "then", then), event("Pod", name, "BackOff", "now", now))
			}
		}
		for _, name := range []string{"web-good", "web-bad"} {
			if strings.Contains(selector, "involvedObject.kind=ReplicaSet") {
				events = append(events, event("ReplicaSet", name, "FailedCreate", "then", then), event("ReplicaSet", name, "FailedCreate", "now", now))
			}
		}
		if len(events) == 0 {
			kind, _, _ := strings.Cut(strings.TrimPrefix(selector, "involvedObject.kind="), ",")
			events = []any{event(kind, "web", "Old", "then", then)}
		}
		encode(w, map[string]any{"kind": "EventList", "apiVersion": "v1", "items": events})
	}
}
