package command_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// The script of docs/ci/tekton.yaml fails when the program has crashed, which is exit code 2 with Go, and
// succeeds when a plan has changes, which is the same code. e2e/flows_test.go runs it on a cluster.
func TestTektonTaskFailsAfterACrash(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "ci", "tekton.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var task struct {
		Spec struct {
			Steps []struct {
				Env []struct {
					Name string `json:"name"`
				} `json:"env"`
				Script string `json:"script"`
			} `json:"steps"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(data, &task); err != nil || len(task.Spec.Steps) != 1 {
		t.Fatal(err, task)
	}
	step := task.Spec.Steps[0]
	const plans = `for a; do case $a in dotenv=*) echo changed=true > "${a#dotenv=}" ;; esac; done; `
	for _, tc := range []struct {
		program, changed string
		code             int
	}{
		{plans + "exit 0", "true", 0},
		{plans + "exit 2", "true", 0},
		{plans + "exit 3", "true", 0},
		{plans + "exit 1", "true", 1},
		{"exit 2", "", 1},
		{"exit 0", "", 1},
		{"exit 137", "", 137},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "kubectl-release"), []byte("#!/bin/sh\n"+tc.program+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		run := exec.Command("sh", "-c", step.Script)
		run.Dir, run.Env = dir, append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "TMPDIR="+dir)
		for _, e := range step.Env {
			run.Env = append(run.Env, e.Name+"="+filepath.Join(dir, e.Name))
		}
		said, _ := run.CombinedOutput()
		changed, err := os.ReadFile(filepath.Join(dir, "CHANGED"))
		if code := run.ProcessState.ExitCode(); code != tc.code || strings.TrimSpace(string(changed)) != tc.changed || err != nil {
			t.Errorf("%s: exit code %d, want %d; changed %q, %v\n%s", tc.program, code, tc.code, changed, err, said)
		}
	}
}
