package acceptance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// All that tests of releases wait for happens on a cluster without machines,
// fails visibly where requested, and leaves no volumes behind.
func TestWorkloads(t *testing.T) {
	s := startCluster(t)
	t.Logf("started in %s", s.took)
	began := time.Now()
	s.kubectl(t, "apply", "-f", "testdata/workloads.yaml")
	t.Logf("applied in %s", time.Since(began))

	s.kubectl(t, "rollout", "status", "deployment/web", "--timeout=5m")
	t.Logf("deployment ready after %s", time.Since(began))
	s.kubectl(t, "rollout", "status", "statefulset/db", "--timeout=5m")
	t.Logf("statefulset ready after %s", time.Since(began))
	s.kubectl(t, "rollout", "status", "daemonset/agent", "--timeout=5m")
	s.kubectl(t, "wait", "job/good", "--for=condition=complete", "--timeout=5m")
	t.Logf("job complete after %s", time.Since(began))
	s.kubectl(t, "wait", "job/bad", "--for=condition=failed", "--timeout=5m")
	t.Logf("job failed after %s", time.Since(began))

	s.eventually(t, "Succeeded", "get", "pod", "hook", "-o", "jsonpath={.status.phase}")
	s.eventually(t, "Bound", "get", "pvc", "bound", "-o", "jsonpath={.status.phase}")
	s.eventually(t, "Pending", "get", "pvc", "unbound", "-o", "jsonpath={.status.phase}")
	s.eventually(t, "Bound Bound Bound Bound Bound", "get", "pv", "-o", "jsonpath={.items[*].status.phase}")
	if got := s.kubectl(t, "get", "service", "balanced", "-o", "jsonpath={.status.loadBalancer.ingress[*].ip}"); !strings.HasPrefix(got, "198.51.100.") {
		t.Errorf("the load balancer's address is %q", got)
	}
	if got := s.kubectl(t, "get", "service", "unbalanced", "-o", "jsonpath={.status.loadBalancer.ingress}"); got != "" {
		t.Errorf("a load balancer that hangs has the address %q", got)
	}

	if got, want := s.kubectl(t, "logs", "deployment/web", "-c", "web"), "web: started\nweb: ready\n"; !strings.HasSuffix(got, want) {
		t.Errorf("logs are %q, want %q", got, want)
	}
	if got, want := s.kubectl(t, "logs", "talker", "--tail=2"), "two\nthree\n"; got != want {
		t.Errorf("the last lines of the log are %q, want %q", got, want)
	}
	if got, want := s.kubectl(t, "logs", "job/bad"), "job: started\njob: fatal: told to fail\n"; got != want {
		t.Errorf("the failed job's log is %q, want %q", got, want)
	}

	began = time.Now()
	s.kubectl(t, "delete", "-f", "testdata/workloads.yaml", "--timeout=5m")
	s.kubectl(t, "delete", "pvc", "--all", "--timeout=5m")
	s.eventually(t, "", "get", "pod,pv", "-o", "name")
	t.Logf("all deleted, volumes given back, after %s", time.Since(began))
}

// To a watcher each behaviour looks as it does on real nodes.
func TestBehaviours(t *testing.T) {
	s := startCluster(t)
	const ready = `{.status.conditions[?(@.type=="Ready")].status}`
	const waiting = "{.status.containerStatuses[0].state.waiting.reason}"
	tests := []struct {
		why           string
		behave        string
		restartPolicy string
		path, want    string
	}{
		{"readiness probes that never succeed", "never-ready", "Always", "{.status.phase} " + ready, "Running False"},
		{"a slow start ends well", "slow:1s", "Always", "{.status.phase} " + ready, "Running True"},
		{"a crash is told by the container's state", "crash", "Always", waiting + " {.status.containerStatuses[0].lastState.terminated.exitCode}", "CrashLoopBackOff 1"},
		{"a crash counts its restarts", "crash", "Always", "{.status.containerStatuses[?(@.restartCount>=2)].name}", "main"},
		{"a container that must not restart fails its pod", "crash", "Never", "{.status.phase} {.status.containerStatuses[0].state.terminated.exitCode}", "Failed 1"},
		{"a failed pod keeps its exit code", "fail", "OnFailure", "{.status.phase} {.status.containerStatuses[0].state.terminated.exitCode}", "Failed 1"},
		{"a failing container that restarts crashes", "fail", "Always", waiting, "CrashLoopBackOff"},
		{"a pod that can't be created", "hang", "Always", "{.status.phase} " + waiting, "Pending ContainerCreating"},
		{"an image that can't be pulled", "image-missing", "Always", "{.status.phase} " + waiting, "Pending ImagePullBackOff"},
		{"a job that takes long", "run", "Never", "{.status.phase} " + ready, "Running True"},
	}
	for i, test := range tests {
		name := "pod-" + strconv.Itoa(i)
		file := filepath.Join(t.TempDir(), "pod.yaml")
		pod := fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: %s, annotations: {testcluster.kubectl-release.dev/behave: %q}}\n"+
			"spec: {restartPolicy: %s, containers: [{name: main, image: none}]}\n", name, test.behave, test.restartPolicy)
		if err := os.WriteFile(file, []byte(pod), 0o600); err != nil {
			t.Fatal(err)
		}
		s.kubectl(t, "create", "-f", file)
	}
	for i, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			s.eventually(t, test.want, "get", "pod", "pod-"+strconv.Itoa(i), "-o", "jsonpath="+test.path)
		})
	}
	t.Run("no other stage overrules one that lasts", func(t *testing.T) {
		time.Sleep(2 * time.Second)
		for _, i := range []int{0, 7, 8, 9} {
			s.eventually(t, tests[i].want, "get", "pod", "pod-"+strconv.Itoa(i), "-o", "jsonpath="+tests[i].path)
		}
	})
}

// A hook has to wait for a namesake that is still terminating: this is how a test
// gets one.
func TestSlowDelete(t *testing.T) {
	s := startCluster(t, "--nodes", "1")
	s.kubectl(t, "run", "lingering", "--image=none", "--annotations=testcluster.kubectl-release.dev/behave=slow-delete:2s")
	s.eventually(t, "Running", "get", "pod", "lingering", "-o", "jsonpath={.status.phase}")
	waitFor(t, func() string { // a late kwok would delete a namesake of the deleted pod
		command := exec.Command("../bin/kubectl", "--kubeconfig", s.kubeconfig, "delete", "pod", "lingering",
			"--dry-run=server", "--as=testcluster-kubelet", "--as-group=system:masters")
		if output, err := command.CombinedOutput(); err == nil || !strings.Contains(string(output), "nobody has asked for the deletion") {
			return fmt.Sprintf("a kubelet may delete a pod by itself: %s", output)
		}
		return ""
	})
	began := time.Now()
	s.kubectl(t, "delete", "pod", "lingering", "--timeout=5m")
	if took := time.Since(began); took < 1500*time.Millisecond {
		t.Errorf("the pod was gone after %s, want 2s at least", took)
	}
}

// Permissions, plugins and aggregated APIs are what tests of a kubectl plugin need
// besides workloads.
func TestControlPlaneIsReal(t *testing.T) {
	audit := filepath.Join(t.TempDir(), "audit.log")
	s := startCluster(t, "--nodes", "1", "--audit-log", audit)

	t.Run("roles are enforced", func(t *testing.T) {
		s.kubectl(t, "create", "serviceaccount", "reader")
		s.kubectl(t, "create", "rolebinding", "reader", "--clusterrole=view", "--serviceaccount=default:reader")
		as := "--as=system:serviceaccount:default:reader"
		s.kubectl(t, "get", "configmaps", as)
		command := exec.Command("../bin/kubectl", "--kubeconfig", s.kubeconfig, "create", "configmap", "settings", as)
		if output, err := command.CombinedOutput(); err == nil || !strings.Contains(string(output), "forbidden") {
			t.Errorf("a reader may write: %s", output)
		}
		if token := s.kubectl(t, "create", "token", "reader"); strings.Count(token, ".") != 2 {
			t.Errorf("no token is issued to a service account: %q", token)
		}
	})
	t.Run("kubectl finds plugins", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "kubectl-release"), []byte("#!/bin/sh\necho plugin $*\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
		if got := s.kubectl(t, "release", "plan", "web"); got != "plugin plan web\n" {
			t.Errorf("kubectl release plan web prints %q", got)
		}
	})
	t.Run("an aggregated API can be out of order", func(t *testing.T) {
		s.kubectl(t, "apply", "-f", "testdata/aggregated.yaml")
		s.eventually(t, "False", "get", "apiservice", "v1.broken.example.com", "-o", `jsonpath={.status.conditions[?(@.type=="Available")].status}`)
		command := exec.Command("../bin/kubectl", "--kubeconfig", s.kubeconfig, "get", "--raw", "/apis/broken.example.com/v1")
		if output, err := command.CombinedOutput(); err == nil || !strings.Contains(string(output), "currently unable to handle the request") {
			t.Errorf("the broken API answers %s, want 503", output)
		}
	})
	t.Run("requests are on record", func(t *testing.T) {
		content, err := os.ReadFile(audit)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(content), `"verb":"create"`) || !strings.Contains(string(content), `"resource":"rolebindings"`) {
			t.Error("the audit log lacks the creation of the role binding")
		}
	})
}
