//go:build cluster

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// The flows of docs/pull-requests.md, each on a repository whose pull request
// changes a chart and its values: see pullRequest.

// A fork's job has no credentials at all, and still shows what will change.
func TestFlowAForksPlanOffline(t *testing.T) {
	t.Parallel()
	job := jobIn(t, pullRequest(t), "KUBECONFIG=/nowhere/kubeconfig")
	job(0, "git worktree add -q --detach ../base origin/main")
	out := job(2, "kubectl release plan web ./chart -n shop -f prod.yaml --untrusted --offline --against ../base/chart --against-values ../base/prod.yaml --detailed-exitcode -o markdown")
	if !strings.HasPrefix(out, "<!-- kubectl-release plan of shop/web -->\n") || !strings.Contains(out, "replicas 2 → 3") {
		t.Error(out)
	}
}

// A job of the repository itself gets an exact plan, with an identity that can't write.
func TestFlowBPlansTheClusterAsThePlanner(t *testing.T) {
	installPlanner(t)
	namespace := cluster.Namespace(t)
	job := jobIn(t, pullRequest(t), "HELM_NAMESPACE="+namespace)
	job(0, "kubectl release install web ./chart --set replicas=2")
	out := job(2, "kubectl release plan web ./chart -f prod.yaml --as "+planner+" --untrusted --detailed-exitcode -o json")
	if !strings.Contains(out, `"fidelity": "exact"`) || strings.Contains(out, `"fidelity": "estimated"`) || !strings.Contains(out, `"effectDigest": "sha256:`) {
		t.Errorf("the plan is not exact:\n%s", out)
	}
	job(1, "kubectl release upgrade web ./chart -f prod.yaml --as "+planner+" 2> refused")
	job(0, "grep -q '"+denied+"' refused")
	job(0, `kubectl -n "$HELM_NAMESPACE" get deployment web -o jsonpath={.spec.replicas} | grep -qx 2`)
}

// After the merge the plan is made again: it is applied if it has the approved effect, and
// refused if somebody has changed an object. (TestEffectDigestSurvivesRebaseAndForeignRevision
// has revisions in between.)
func TestFlowCAppliesWhatHasTheApprovedEffect(t *testing.T) {
	t.Parallel()
	job := jobIn(t, pullRequest(t), "HELM_NAMESPACE="+cluster.Namespace(t))
	job(0, "kubectl release install web ./chart --set replicas=2")
	job(0, "kubectl release plan web ./chart -f prod.yaml -o json | jq -r .effectDigest > approved")
	job(0, `kubectl -n "$HELM_NAMESPACE" scale deployment web --replicas=7`)
	job(4, `kubectl release upgrade --install web ./chart -f prod.yaml --expect-effect "$(cat approved)"`)
	job(0, `kubectl -n "$HELM_NAMESPACE" scale deployment web --replicas=2`)
	job(0, `kubectl release upgrade --install web ./chart -f prod.yaml --expect-effect "$(cat approved)"`)
}

// The plan is saved, encrypted and signed, as is the plan of a set, and the protected job
// applies exactly these.
func TestFlowDAppliesWhatWasSavedAndSigned(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	job := jobIn(t, pullRequest(t), "HELM_NAMESPACE="+namespace)
	job(0, `ssh-keygen -q -t ed25519 -N '' -f ci && echo "ci@shop $(cat ci.pub)" > allowed_signers`)
	job(0, `kubectl release plan web ./chart -f prod.yaml --out web.plan.age --encrypt-to recipients.txt --sign ci --commit "$(git rev-parse HEAD)"`)
	const opening = " --identity key.txt --allowed-signers allowed_signers"
	job(4, "kubectl release apply web.plan.age --expect-commit 0123"+opening)
	job(0, `kubectl release apply web.plan.age --expect-commit "$(git rev-parse HEAD)"`+opening)

	job(0, "printf 'version: 1\\ndefaults: {namespace: "+namespace+"}\\nreleases: [{name: web, chart: ./chart, values: [{replicas: 5}]}, {name: two, chart: ./chart}]\\n' > releases.yaml")
	job(0, "kubectl release plan many releases.yaml --out plans --encrypt-to recipients.txt --sign ci")
	job(1, "rm -rf forged && cp -R plans forged && rm forged/set.json.sig && kubectl release apply many forged"+opening)
	job(0, `kubectl release apply many plans --expect-digest "sha256:$(sha256sum plans/set.json | cut -d ' ' -f 1)"`+opening)
}

// At night the whole set is planned: exit code 0 if nothing differs, 2 and a report if somebody
// has changed something.
func TestFlowEReportsDriftAtNight(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	job := jobIn(t, pullRequest(t), "HELM_NAMESPACE="+namespace)
	job(0, "printf 'version: 1\\ndefaults: {namespace: "+namespace+"}\\nreleases: [{name: web, chart: ./chart, values: [prod.yaml]}, {name: two, chart: ./chart}]\\n' > releases.yaml")
	job(0, "kubectl release plan many releases.yaml --out plans && kubectl release apply many plans")
	job(0, "kubectl release plan many releases.yaml --all --detailed-exitcode")
	job(0, `kubectl -n "$HELM_NAMESPACE" scale deployment web --replicas=9`)
	out := job(2, "kubectl release plan many releases.yaml --all --detailed-exitcode -o markdown")
	if !strings.Contains(out, "Plan of 2 releases: 1 changes, 1 stays as it is") || !strings.Contains(out, "1 object drifted") {
		t.Error(out)
	}
}

// docs/ci/atlantis.yaml: what was planned is applied, and once only, and the policy check of a
// plan that is not blocked does not print the word that Atlantis looks for.
func TestAtlantisWorkflow(t *testing.T) {
	t.Parallel()
	var config struct {
		Workflows map[string]map[string]struct {
			Steps []struct {
				Run string `json:"run"`
			} `json:"steps"`
		} `json:"workflows"`
	}
	if err := yaml.Unmarshal([]byte(content(t, inTree("docs", "ci", "atlantis.yaml"))), &config); err != nil {
		t.Fatal(err)
	}
	if len(config.Workflows) != 2 {
		t.Errorf("%d workflows", len(config.Workflows))
	}
	for name, stages := range config.Workflows {
		t.Run(name, func(t *testing.T) {
			namespace := cluster.Namespace(t)
			job := jobIn(t, pullRequest(t), "HELM_NAMESPACE="+namespace+" PROJECT_NAME=web PLANFILE="+t.TempDir()+"/default.tfplan")
			job(0, "printf 'version: 1\\ndefaults: {namespace: "+namespace+"}\\nreleases: [{name: web, chart: ./chart, values: [prod.yaml]}]\\n' > releases.yaml")
			for _, stage := range []string{"plan", "policy_check", "apply"} {
				for _, step := range stages[stage].Steps {
					out := job(0, step.Run)
					if stage == "policy_check" && (!strings.Contains(out, "to create") || strings.Contains(out, "fail")) {
						t.Errorf("the policy check says %q", out)
					}
				}
			}
			job(0, `kubectl -n "$HELM_NAMESPACE" get deployment web`)
			job(4, stages["apply"].Steps[0].Run) // it has been applied, so it is stale now
		})
	}
}

// docs/ci/tekton.yaml: the step's results fit into the 4 KiB that Tekton has for them, and a plan
// that can't be made fails the step.
func TestTektonTask(t *testing.T) {
	t.Parallel()
	var task struct {
		Spec struct {
			Results []struct {
				Name string `json:"name"`
			} `json:"results"`
			Steps []struct {
				Script string `json:"script"`
			} `json:"steps"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal([]byte(content(t, inTree("docs", "ci", "tekton.yaml"))), &task); err != nil {
		t.Fatal(err)
	}
	results, environment := t.TempDir(), "HELM_NAMESPACE="+cluster.Namespace(t)+" NAME=web CHART=./chart VALUES=prod.yaml"
	for _, r := range task.Spec.Results {
		environment += " " + strings.ToUpper(r.Name) + "=" + filepath.Join(results, r.Name)
	}
	pr := pullRequest(t)
	if err := os.WriteFile(filepath.Join(pr, "task.sh"), []byte(task.Spec.Steps[0].Script), 0o700); err != nil {
		t.Fatal(err)
	}
	job := jobIn(t, pr, environment)
	job(0, "sh task.sh")
	said, size := map[string]string{}, 0
	for _, r := range task.Spec.Results {
		said[r.Name] = content(t, filepath.Join(results, r.Name))
		size += len(said[r.Name])
	}
	if size > 4096 || said["changed"] != "true" || said["risk"] != "none" || !strings.HasPrefix(said["digest"], "sha256:") || !strings.Contains(said["verdict"], "web: ") {
		t.Errorf("%q", said)
	}
	job(1, "printf 'replicas: [\\n' > prod.yaml; sh task.sh")
}

// jobIn returns a function that runs a job's commands in a folder and checks their exit codes.
func jobIn(t *testing.T, folder, environment string) func(code int, line string) string {
	t.Helper()
	tools := pluginFolder(t)
	jq, err := cluster.Binaries.Tool(t.Context(), "gojq", os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(jq, filepath.Join(tools, "jq")); err != nil {
		t.Fatal(err)
	}
	environment = "export PATH=" + tools + ":$PATH " + environment + "; cd " + folder + "; "
	return func(code int, line string) string {
		t.Helper()
		result := cluster.Run(t, "bash", "", "-c", environment+line)
		if result.ExitCode != code {
			t.Fatalf("$ %s\nexit code %d, want %d\n%s%s", line, result.ExitCode, code, result.Stdout, result.Stderr)
		}
		return result.Stdout
	}
}
