//go:build cluster

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptCommands returns these commands:
//
//	exits CODE PROGRAM ARGS...   like exec, and the exit code must be CODE
//	mode PERMISSIONS FILE        the file's permissions are exactly these (octal)
//	untouched                    of the kinds that charts have, the namespace contains only what every
//	                             new namespace contains
//	status RELEASE STATUSES      the statuses of the release's revisions, such as superseded,deployed
//	free RELEASE                 nobody holds the release's lock
//	allowed USER VERB RESOURCE   waits until the user may do that: the API server follows a new role a moment later
//	json FILE PATH VALUE         the JSON file has that value at a path such as stages.0.name
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"exits": exits, "mode": mode, "untouched": untouched, "status": status, "free": free, "allowed": allowed, "json": jsonField,
	}
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if exit, ok := err.(*exec.ExitError); ok { //nolint:errorlint // testscript gives it as it is
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("%s: exit code %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

func mode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mode PERMISSIONS FILE")
	}
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%04o", info.Mode().Perm()); got != args[0] {
		ts.Fatalf("%s has mode %s, want %s", args[1], got, args[0])
	}
}

// bornWith is what the control plane puts into every new namespace, a moment later.
var bornWith = map[string]bool{"ConfigMap/kube-root-ca.crt": true, "ServiceAccount/default": true}

func untouched(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: untouched")
	}
	kinds := "secrets,configmaps,serviceaccounts,services,pods,persistentvolumeclaims,deployments.apps,statefulsets.apps,daemonsets.apps,jobs.batch,cronjobs.batch," +
		"ingresses.networking.k8s.io,roles.rbac.authorization.k8s.io,rolebindings.rbac.authorization.k8s.io,leases.coordination.k8s.io"
	var left []string
	for range 3000 {
		left = left[:0]
		owned := false
		for line := range strings.Lines(kubectl(ts, "get", kinds, "-o", `go-template={{range .items}}{{.kind}}/{{.metadata.name}} {{with .metadata.ownerReferences}}owned{{end}}{{"\n"}}{{end}}`)) {
			name, owner, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			if bornWith[name] {
				continue
			}
			left, owned = append(left, name), owned || owner != ""
		}
		if !owned { // what has an owner is removed a moment after it, by the garbage collector
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if len(left) > 0 {
		ts.Fatalf("the namespace was to stay as it was, and has %s", strings.Join(left, ", "))
	}
}

func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: status RELEASE STATUSES")
	}
	out := kubectl(ts, "get", "secrets", "-l", "owner=helm,name="+args[0], "--sort-by=.metadata.creationTimestamp",
		"-o", `jsonpath={range .items[*]}{.metadata.labels.version} {.metadata.labels.status}{"\n"}{end}`)
	byRevision := map[int]string{}
	newest := 0
	for line := range strings.Lines(out) {
		var revision int
		var status string
		_, err := fmt.Sscan(line, &revision, &status)
		ts.Check(err)
		byRevision[revision] = status
		newest = max(newest, revision)
	}
	var got []string
	for revision := 1; revision <= newest; revision++ {
		if s, ok := byRevision[revision]; ok {
			got = append(got, s)
		}
	}
	if joined := strings.Join(got, ","); joined != args[1] {
		ts.Fatalf("the revisions of %s are %s, want %s", args[0], joined, args[1])
	}
}

func free(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: free RELEASE")
	}
	if out := kubectl(ts, "get", "leases", "kubectl-release."+args[0], "--ignore-not-found", "-o", "name"); out != "" {
		ts.Fatalf("%s is still there", strings.TrimSpace(out))
	}
}

func allowed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: allowed USER VERB RESOURCE")
	}
	for range 3000 {
		if ts.Exec(cluster.Binaries.Kubectl, "auth", "can-i", args[1], args[2], "--as", args[0]) == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	ts.Fatalf("%s may never %s %s", args[0], args[1], args[2])
}

// kubectl runs kubectl as the script would and returns what it prints.
func kubectl(ts *testscript.TestScript, args ...string) string {
	command := exec.Command(cluster.Binaries.Kubectl, args...)
	command.Env = []string{"KUBECONFIG=" + ts.Getenv("KUBECONFIG"), "KUBECACHEDIR=" + ts.Getenv("KUBECACHEDIR"), "HOME=" + ts.Getenv("HOME")}
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		ts.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

func jsonField(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: json FILE PATH VALUE")
	}
	var value any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &value))
	for key := range strings.SplitSeq(args[1], ".") {
		switch inner := value.(type) {
		case map[string]any:
			value = inner[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(inner) {
				ts.Fatalf("%s: no item %s in a list of %d", args[1], key, len(inner))
			}
			value = inner[i]
		default:
			ts.Fatalf("%s: %s is below %v", args[1], key, value)
		}
	}
	if got := fmt.Sprint(value); got != args[2] {
		ts.Fatalf("%s is %s, want %s", args[1], got, args[2])
	}
}
