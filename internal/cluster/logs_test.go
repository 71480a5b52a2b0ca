package cluster_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// pod returns a pod with the named containers; those whose names begin with "init" are init
// containers.
func pod(name, created string, containers ...string) map[string]any {
	var main, initial []any
	for _, c := range containers {
		if strings.HasPrefix(c, "init") {
			initial = append(initial, map[string]any{"name": c})
			continue
		}
		main = append(main, map[string]any{"name": c})
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": name, "namespace": "shop", "creationTimestamp": created},
		"spec":     map[string]any{"initContainers": initial, "containers": main},
	}
}

// logging serves pods, and the log lines of their containers by "pod/container"; for a
// container without an entry the request is refused.
func (s *server) logging(logs map[string]string, pods ...map[string]any) {
	s.reply("GET /apis/batch/v1", resources("batch/v1", "jobs Job"))
	s.reply("GET /apis", groups("apps/v1", "batch/v1"))
	s.reply("GET /apis/batch/v1/namespaces/shop/jobs/job", map[string]any{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "job", "namespace": "shop"},
		"spec": map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"job": "job"}}},
	})
	list := []any{}
	for _, p := range pods {
		list = append(list, p)
		name, _ := p["metadata"].(map[string]any)["name"].(string)
		s.reply("GET /api/v1/namespaces/shop/pods/"+name, p)
		s.answers["GET /api/v1/namespaces/shop/pods/"+name+"/log"] = func(w http.ResponseWriter, r *http.Request) {
			lines, ok := logs[name+"/"+r.URL.Query().Get("container")]
			if !ok {
				status(http.StatusBadRequest, metav1.Status{Reason: metav1.StatusReasonBadRequest, Message: "the container waits to start"})(w, r)
				return
			}
			_, _ = w.Write([]byte(lines))
		}
	}
	s.reply("GET /api/v1/namespaces/shop/pods", map[string]any{"kind": "PodList", "apiVersion": "v1", "items": list})
}

func TestLogs(t *testing.T) {
	const early, late = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
	job := apply.Ref{ID: manifest.ID{Group: "batch", Kind: "Job", Namespace: "shop", Name: "job"}, Version: "v1"}
	for _, test := range []struct {
		name string
		ref  apply.Ref
		pods []map[string]any
		logs map[string]string
		want string
		err  string
	}{
		{
			name: "one container is told as it is", ref: ref("Pod", "a"),
			pods: []map[string]any{pod("a", early, "main")}, logs: map[string]string{"a/main": "hello\n"}, want: "hello\n",
		},
		{
			name: "an init container that failed is told, though the others have not started", ref: ref("Pod", "a"),
			pods: []map[string]any{pod("a", early, "init-schema", "main")}, logs: map[string]string{"a/init-schema": "no such table"}, want: "no such table",
		},
		{
			name: "several are told apart, the oldest pod first", ref: job,
			pods: []map[string]any{pod("second", late, "main"), pod("first", early, "init-x", "main")},
			logs: map[string]string{"second/main": "2\n", "first/init-x": "0", "first/main": "1\n"},
			want: "Pod/first, container init-x:\n0\nPod/first, container main:\n1\nPod/second, container main:\n2\n",
		},
		{
			name: "an init container takes only what the others leave", ref: ref("Pod", "a"),
			pods: []map[string]any{pod("a", early, "init-x", "main")}, logs: map[string]string{"a/init-x": strings.Repeat("x", 1<<20), "a/main": "1\n"},
			want: "Pod/a, container init-x:\n" + strings.Repeat("x", 1<<20-2) + "\n(the rest of the log is not shown)\nPod/a, container main:\n1\n",
		},
		{
			name: "where nothing can be read, the error says why", ref: job,
			pods: []map[string]any{pod("a", early, "main")}, err: "Pod/a, container main: the container waits to start",
		},
		{
			name: "a Job that is not there is an error that names it", ref: apply.Ref{ID: manifest.ID{Group: "batch", Kind: "Job", Namespace: "shop", Name: "none"}, Version: "v1"},
			err: "find the pods of Job/none",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t)
			s.logging(test.logs, test.pods...)
			got, err := s.connect(t).Logs(t.Context(), test.ref, 10)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("error %v, want %q", err, test.err)
			}
		})
	}
}

// As many lines are asked for as the caller wants, all of them for 0, and what is cut off is told.
func TestLogsAreBounded(t *testing.T) {
	s := newServer(t)
	s.logging(map[string]string{"a/main": strings.Repeat("x", 1<<20)}, pod("a", "2026-01-01T00:00:00Z", "main"))
	var asked []string
	const path = "GET /api/v1/namespaces/shop/pods/a/log"
	answer := s.answers[path]
	s.answers[path] = func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Query().Get("tailLines"))
		answer(w, r)
	}
	c := s.connect(t)
	for _, lines := range []int64{10, 0} {
		got, err := c.Logs(t.Context(), ref("Pod", "a"), lines)
		if err != nil || !strings.HasSuffix(got, "x\n(the rest of the log is not shown)") {
			t.Errorf("%d lines end with %q, error %v", lines, got[max(0, len(got)-40):], err)
		}
	}
	if diff := cmp.Diff([]string{"10", ""}, asked); diff != "" {
		t.Errorf("lines asked for (-want +got):\n%s", diff)
	}
}

// All containers of a Job share the limit: of the oldest pods, what does not fit is not read, and that is told.
func TestLogsOfAJobAreBoundedTogether(t *testing.T) {
	s := newServer(t)
	half := strings.Repeat("x", 1<<19)
	s.logging(map[string]string{"a/main": half, "a/other": half, "b/main": half + half, "c/main": half},
		pod("a", "2026-01-01T00:00:00Z", "main", "other"), pod("b", "2026-01-02T00:00:00Z", "main"), pod("c", "2026-01-03T00:00:00Z", "main"))
	job := apply.Ref{ID: manifest.ID{Group: "batch", Kind: "Job", Namespace: "shop", Name: "job"}, Version: "v1"}
	got, err := s.connect(t).Logs(t.Context(), job, 0)
	want := "(2 more containers are not shown)\nPod/b, container main:\n" + half + "\n(the rest of the log is not shown)\nPod/c, container main:\n" + half + "\n"
	if err != nil || got != want {
		t.Errorf("%d bytes, want %d; error %v", len(got), len(want), err)
	}
	if slices.Contains(s.requests(), "GET /api/v1/namespaces/shop/pods/a/log") {
		t.Error("the log of the first pod is read")
	}
}

// Diagnostics are the states of an object's pods and the warnings about
// both, oldest first; healthy pods are omitted.
func TestDiagnose(t *testing.T) {
	s := newServer(t)
	s.logging(nil,
		withStatus(pod("bad", "2026-01-01T00:00:00Z", "main"), map[string]any{
			"name": "main", "restartCount": 3, "state": map[string]any{"waiting": map[string]any{"reason": "CrashLoopBackOff"}},
		}),
		withStatus(pod("good", "2026-01-01T00:00:00Z", "main"), map[string]any{
			"name": "main", "ready": true, "state": map[string]any{"running": map[string]any{}},
		}))
	event := func(kind, name, reason, at string) map[string]any {
		return map[string]any{
			"reason": reason, "message": "it happened", "lastTimestamp": at,
			"involvedObject": map[string]any{"kind": kind, "name": name}, "metadata": map[string]any{"name": reason},
		}
	}
	s.answers["GET /api/v1/namespaces/shop/events"] = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		items := []any{}
		switch selector := r.URL.Query().Get("fieldSelector"); {
		case strings.Contains(selector, "involvedObject.kind=Pod"):
			items = append(items, event("Pod", "bad", "Later", "2026-01-03T00:00:00Z"), event("Pod", "good", "Other", "2026-01-03T00:00:00Z"),
				event("Pod", "bad", "Sooner", "2026-01-02T00:00:00Z"))
		case strings.Contains(selector, "involvedObject.kind=Job"):
			items = append(items, event("Job", "job", "Mine", "2026-01-03T00:00:00Z"), event("Job", "namesake", "Foreign", "2026-01-03T00:00:00Z"))
		}
		encode(w, map[string]any{"kind": "EventList", "apiVersion": "v1", "items": items})
	}
	got := s.connect(t).Diagnose(t.Context(), apply.Ref{ID: manifest.ID{Group: "batch", Kind: "Job", Namespace: "shop", Name: "job"}, Version: "v1"}, time.Time{})
	want := []string{
		"Job/job: Mine: it happened",
		"Pod/bad: container main is waiting: CrashLoopBackOff after 3 restarts",
		"Pod/bad: Sooner: it happened",
		"Pod/bad: Later: it happened",
	}
	if diff := cmp.Diff(want, got.Text()); diff != "" {
		t.Error(diff)
	}
}

func withStatus(p map[string]any, container map[string]any) map[string]any {
	p["status"] = map[string]any{"phase": "Running", "containerStatuses": []any{container}}
	return p
}
