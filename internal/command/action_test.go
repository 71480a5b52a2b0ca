package command_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// action is the part of action.yml that a runner needs.
type action struct {
	Inputs map[string]struct {
		Default string `json:"default"`
	} `json:"inputs"`
	Outputs map[string]struct {
		Value string `json:"value"`
	} `json:"outputs"`
	Runs struct {
		Steps []struct {
			ID   string            `json:"id"`
			Name string            `json:"name"`
			If   string            `json:"if"`
			Uses string            `json:"uses"`
			Run  string            `json:"run"`
			Env  map[string]string `json:"env"`
		} `json:"steps"`
	} `json:"runs"`
}

func readAction(t *testing.T) (action, string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var a action
	if err := yaml.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	return a, string(text)
}

// runner runs the steps of a composite action as GitHub's runner does, as far as action.yml needs
// it: the contexts inputs, steps and github, and conditions of terms joined by &&.
type runner struct {
	t *testing.T
	// known holds the values of all contexts: "inputs.name", "steps.plan.outputs.blocked".
	known map[string]string
	env   []string
	dir   string
	log   strings.Builder
	// masked are the texts that the log hides.
	masked []string
}

var (
	expression = regexp.MustCompile(`\$\{\{ *(.*?) *\}\}`)
	mask       = regexp.MustCompile(`(?m)^::add-mask::(.+)$`)
	output     = regexp.MustCompile(`(?ms)^([a-z_-]+)(?:=(.*?)$|<<(\S+)\n(.*?)^(\S+)$)`)
)

// value returns the value of a term: a literal or a name in a context.
func (r *runner) value(term string) string {
	if literal, ok := strings.CutPrefix(term, "'"); ok {
		return strings.TrimSuffix(literal, "'")
	}
	if !regexp.MustCompile(`^(inputs|steps|github)\.`).MatchString(term) {
		r.t.Fatalf("the runner knows no %q", term)
	}
	return r.known[term]
}

func (r *runner) filled(text string) string {
	return expression.ReplaceAllStringFunc(text, func(e string) string { return r.value(expression.FindStringSubmatch(e)[1]) })
}

func (r *runner) holds(condition string) bool {
	if condition == "" {
		return true
	}
	for term := range strings.SplitSeq(expression.FindStringSubmatch(condition)[1], " && ") {
		if left, right, ok := strings.Cut(term, " == "); ok && r.value(left) != r.value(right) {
			return false
		}
		if left, right, ok := strings.Cut(term, " != "); ok && r.value(left) == r.value(right) {
			return false
		}
	}
	return true
}

// run runs the action's steps and returns its outputs, and whether it succeeded.
func (r *runner) run(a action, given map[string]string) (map[string]string, bool) {
	for name, in := range a.Inputs {
		r.known["inputs."+name] = r.filled(in.Default)
	}
	for name, value := range given {
		r.known["inputs."+name] = value
	}
	succeeded := true
	for i, step := range a.Runs.Steps {
		// A step without a condition does not run after a step that failed.
		if step.If == "" && !succeeded || !r.holds(step.If) {
			fmt.Fprintf(&r.log, "== %s is skipped\n", step.Name)
			continue
		}
		file := filepath.Join(r.t.TempDir(), "output")
		command := exec.Command("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step.Run)
		command.Dir = r.dir
		command.Env = append(append(os.Environ(), r.env...), "GITHUB_OUTPUT="+file)
		for name, value := range step.Env {
			command.Env = append(command.Env, name+"="+r.filled(value))
		}
		said, err := command.CombinedOutput()
		// The runner hides what it is told to, even where a line tells it.
		for _, m := range mask.FindAllSubmatch(said, -1) {
			r.masked = append(r.masked, string(m[1]))
			said = bytes.ReplaceAll(said, m[1], []byte("***"))
		}
		fmt.Fprintf(&r.log, "== %s\n%s", step.Name, said)
		if err != nil {
			fmt.Fprintf(&r.log, "step %d: %v\n", i, err)
			succeeded = false
		}
		set, _ := os.ReadFile(file)
		for _, m := range output.FindAllStringSubmatch(string(set), -1) {
			r.known["steps."+step.ID+".outputs."+m[1]] = strings.TrimSuffix(m[2]+m[4], "\n")
		}
	}
	out := map[string]string{}
	for name, o := range a.Outputs {
		out[name] = r.filled(o.Value)
	}
	return out, succeeded
}

// mergedPullRequest makes what actions/checkout checks out for a pull request: its merge with the
// base, whose commits are the first parents.
func mergedPullRequest(t *testing.T, values string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	chart, err := filepath.Abs(filepath.Join("..", "..", "testdata", "charts", "shop"))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command("bash", "-ec", `git init -q -b main pr && cd pr
cp -R "$CHART" chart && printf '# production\nreplicas: 2\n' > prod.yaml
printf 'version: 1\nclusters: {eu: {}}\ndefaults: {namespace: shop}\nreleases:\n- {name: web, chart: chart, values: [prod.yaml]}\n- {name: other, chart: chart, cluster: eu}\n' > releases.yaml
git add . && git commit -q -m base && git checkout -q -b change
printf '%b' "$VALUES" > prod.yaml && git commit -q --allow-empty -a -m change && git checkout -q main
echo other > other && git add . && git commit -q -m other && git merge -q --no-ff -m merge change`)
	command.Dir = dir
	command.Env = append(os.Environ(), "CHART="+chart, "VALUES="+values, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "pr")
}

// recordingGitHub records its requests and keeps one comment.
func recordingGitHub(t *testing.T) (url string, comment *string, requests *[]string) {
	t.Helper()
	comment, requests = new(string), new([]string)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*requests = append(*requests, r.Method+" "+r.URL.Path)
		var sent struct {
			Body string `json:"body"`
		}
		_ = json.NewDecoder(r.Body).Decode(&sent)
		if r.Header.Get("Authorization") != "Bearer job-token" && r.Header.Get("Private-Token") != "job-token" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		switch {
		case r.URL.Path == "/user":
			w.WriteHeader(http.StatusForbidden)
		case r.Method == http.MethodGet && *comment == "":
			fmt.Fprint(w, "[]")
		case r.Method == http.MethodGet:
			_ = json.NewEncoder(w).Encode([]any{map[string]any{"id": 4711, "body": *comment, "html_url": "https://forge.example/c/4711", "user": map[string]any{"login": "github-actions[bot]"}}})
		default:
			if sent.Body != "" {
				*comment = sent.Body
			}
			fmt.Fprint(w, `{"id":4711,"html_url":"https://forge.example/c/4711"}`)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, comment, requests
}

// Check 21: the steps of action.yml are run the way GitHub runs them, for pull requests from the
// repository and from forks.
func TestActionRunsEveryStep(t *testing.T) {
	program, err := exec.LookPath("kubectl-release")
	if err != nil {
		t.Fatal(err)
	}
	a, _ := readAction(t)
	for _, tc := range []struct {
		name, values, head string
		with               map[string]string
		succeeds           bool
		outputs            map[string]string
		requests, comment  string
		// says must be in the log.
		says string
	}{
		{
			name: "same repository", values: `replicas: 3\nmotd: "::error::forged"\n`, head: "shop/charts", succeeds: true, with: map[string]string{"check": "true", "sarif": "web.sarif"},
			outputs:  map[string]string{"exit-code": "2", "changed": "true", "blocked": "false", "comment-url": "https://forge.example/c/4711"},
			requests: "GET /repos/shop/charts/issues/17/comments POST /repos/shop/charts/issues/17/comments POST /repos/shop/charts/check-runs", comment: "replicas 2 → 3",
		},
		{name: "fork", values: `replicas: 3\n`, head: "mallory/charts", succeeds: true, outputs: map[string]string{"exit-code": "2", "comment-url": ""}},
		{
			name: "blocked", values: `# production\nreplicas: 1\n`, head: "shop/charts", with: map[string]string{"deny": "scale-down"},
			outputs:  map[string]string{"exit-code": "1", "blocked": "true", "changed": "true", "risk": "scale-down"},
			requests: "GET /repos/shop/charts/issues/17/comments POST /repos/shop/charts/issues/17/comments", comment: "--deny scale-down forbids",
		},
		{name: "no change", values: `# production\nreplicas: 2\n`, head: "shop/charts", succeeds: true, outputs: map[string]string{"exit-code": "0", "changed": "false"}, requests: "GET /repos/shop/charts/issues/17/comments"},
		{
			name: "releases", values: `replicas: 3\n`, head: "shop/charts", succeeds: true, with: map[string]string{"releases": "releases.yaml", "name": "", "chart": "", "values": ""},
			outputs:  map[string]string{"exit-code": "2", "changed": "true", "blocked": "false", "risk": "none", "verdict": "shop/web: Plan: 1 to change, 3 unchanged; 1 hook as before", "digest": ""},
			requests: "GET /repos/shop/charts/issues/17/comments POST /repos/shop/charts/issues/17/comments", comment: "### Plan of 2 releases: 1 changes\n", says: "1 release is not touched.",
		},
		{
			name: "all releases of an environment", values: `replicas: 3\n`, head: "shop/charts", succeeds: true, with: map[string]string{"releases": "releases.yaml", "all": "true", "environment": "eu", "comment": "never"},
			outputs: map[string]string{"exit-code": "0", "comment-url": ""}, says: "Plan of 1 release (-e eu): 1 stays as it is",
		},
		{name: "base-ref", values: `replicas: 3\n`, head: "shop/charts", succeeds: true, with: map[string]string{"base-ref": "change", "comment": "never"}, outputs: map[string]string{"exit-code": "0", "changed": "false"}},
		{name: "against what there is not", values: `replicas: 3\n`, head: "shop/charts", with: map[string]string{"against": "Base", "comment": "never"}, says: "::error::against: must be base or cluster, not Base"},
		{name: "saved without a key", values: `replicas: 3\n`, head: "shop/charts", with: map[string]string{"against": "cluster", "sign-key-file": "ci"}, says: "::error::sign-key-file needs encrypt-to"},
		{name: "comparison to save", values: `replicas: 3\n`, head: "shop/charts", with: map[string]string{"encrypt-to": "age1"}, says: "::error::encrypt-to needs against: cluster"},
		{
			name: "broken", values: `replicas: [\n`, head: "shop/charts",
			outputs:  map[string]string{"exit-code": "1", "blocked": "true"},
			requests: "GET /repos/shop/charts/issues/17/comments POST /repos/shop/charts/issues/17/comments", comment: "parse prod.yaml",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			url, comment, requests := recordingGitHub(t)
			temp := t.TempDir()
			r := &runner{t: t, dir: mergedPullRequest(t, tc.values), known: map[string]string{
				"github.token": "job-token", "github.repository": "shop/charts", "github.event.pull_request.head.repo.full_name": tc.head,
			}, env: []string{
				"RUNNER_TEMP=" + temp, "GITHUB_STEP_SUMMARY=" + filepath.Join(temp, "summary"), "GITHUB_API_URL=" + url, "GITHUB_REPOSITORY=shop/charts",
				"GITHUB_REF=refs/pull/17/merge", "GITHUB_SHA=c0ffee", "GITHUB_RUN_ID=5", "GITHUB_EVENT_PATH=", "GITHUB_TOKEN=", "GH_TOKEN=",
				"KUBECONFIG=/nowhere", "HOME=" + temp,
			}}
			with := map[string]string{"name": "web", "chart": "chart", "values": "prod.yaml", "namespace": "shop", "binary": program}
			for name, value := range tc.with {
				with[name] = value
			}
			got, succeeded := r.run(a, with)
			if succeeded != tc.succeeds || strings.Join(*requests, " ") != tc.requests {
				t.Errorf("succeeded: %t, requests %q", succeeded, *requests)
			}
			for name, want := range tc.outputs {
				if got[name] != want {
					t.Errorf("output %s is %q, want %q", name, got[name], want)
				}
			}
			if !strings.Contains(*comment, tc.comment) || strings.Contains(r.log.String(), "job-token") {
				t.Errorf("comment:\n%s", *comment)
			}
			// A token that is not the job's own is no secret that the runner knows.
			if sends := tc.requests != ""; sends != slices.Contains(r.masked, "job-token") {
				t.Errorf("masked: %q", r.masked)
			}
			if !strings.Contains(r.log.String(), tc.says) {
				t.Errorf("the log does not say %q", tc.says)
			}
			if tc.requests != "" {
				if summary, err := os.ReadFile(filepath.Join(temp, "summary")); err != nil || !strings.HasPrefix(string(summary), strings.SplitAfter(*comment+"<!-- ", "\n")[0]) {
					t.Errorf("summary: %v\n%s", err, summary)
				}
				if got["verdict"] == "" || strings.Contains(got["verdict"], "fail") != (got["blocked"] == "true") {
					t.Errorf("verdict %q", got["verdict"])
				}
			}
			if file := tc.with["sarif"]; file != "" {
				if _, err := os.Stat(filepath.Join(r.dir, file)); err != nil || !strings.HasPrefix(got["effect-digest"], "sha256:") || !strings.Contains(got["summary-json"], `"patch":`) {
					t.Errorf("sarif: %v, outputs %v", err, got)
				}
			}
			if tc.name == "blocked" && !strings.Contains(r.log.String(), "::error file=prod.yaml,line=2,title=shop/web policy/scale-down::") {
				t.Error("the error is not at the line that makes it so")
			}
			if t.Failed() {
				t.Log(r.log.String())
			}
		})
	}
}

// printer writes a program that prints its arguments, writes the outputs of a plan that
// changes nothing, and runs a line of shell before that.
func printer(t *testing.T, program, first string) {
	t.Helper()
	text := "#!/bin/sh\necho \"$@\"\n" + first + `
for a; do case $a in dotenv=*) echo changed=false > "${a#dotenv=}" ;; esac; done
`
	if err := os.WriteFile(program, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// Go's runtime exits with 2 when there is no memory: that is no plan with changes.
func TestActionFailsAfterACrash(t *testing.T) {
	a, _ := readAction(t)
	for line, want := range map[string]bool{"": true, "exit 2": false, "exit 0": false} {
		temp := t.TempDir()
		printer(t, filepath.Join(temp, "program"), line)
		r := &runner{t: t, dir: mergedPullRequest(t, `replicas: 3\n`), known: map[string]string{}, env: []string{
			"RUNNER_TEMP=" + temp, "GITHUB_STEP_SUMMARY=" + filepath.Join(temp, "summary"), "GITHUB_REF=refs/pull/17/merge", "HOME=" + temp,
		}}
		out, succeeded := r.run(a, map[string]string{"binary": filepath.Join(temp, "program"), "name": "web", "chart": "chart", "comment": "never"})
		if succeeded != want || (out["blocked"] == "true") == want {
			t.Errorf("%q: %t, %v\n%s", line, succeeded, out, r.log.String())
		}
	}
}

// The base is the pull request's even if its head is checked out, whose parent is another commit of
// it; and the action works several times in a job, and on a runner that an earlier job has used.
func TestActionFindsTheBase(t *testing.T) {
	a, _ := readAction(t)
	temp, dir := t.TempDir(), mergedPullRequest(t, `replicas: 3\n`)
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	merged, forked, base := git("rev-parse", "HEAD"), git("merge-base", "main^1", "change"), git("rev-parse", "main^1")
	git("checkout", "-q", "change")
	git("commit", "-q", "--allow-empty", "-m", "second")
	head := git("rev-parse", "HEAD")
	git("worktree", "add", "-q", "--detach", filepath.Join(temp, "base"), forked)
	if err := os.RemoveAll(filepath.Join(temp, "base")); err != nil {
		t.Fatal(err)
	}
	printer(t, filepath.Join(temp, "program"), "")
	folders := map[string]bool{}
	for i, tc := range []struct{ checkedOut, want string }{{head, forked}, {merged, base}} {
		git("checkout", "-q", tc.checkedOut)
		r := &runner{t: t, dir: dir, known: map[string]string{"github.event.pull_request.head.sha": head, "github.event.pull_request.base.sha": base}, env: []string{
			"RUNNER_TEMP=" + temp, "GITHUB_STEP_SUMMARY=" + filepath.Join(temp, "summary"), "GITHUB_REF=refs/pull/17/merge", "HOME=" + temp,
		}}
		out, succeeded := r.run(a, map[string]string{"binary": filepath.Join(temp, "program"), "name": "web", "chart": "chart", "comment": "never"})
		folders[out["plan-dir"]], folders[r.known["steps.base.outputs.folder"]] = true, true
		if got := r.known["steps.base.outputs.commit"]; !succeeded || got != tc.want || len(folders) != 2*(i+1) {
			t.Errorf("the base is %q, want %q; folders %v\n%s", got, tc.want, folders, r.log.String())
		}
	}
}

// base-ref names a branch, and actions/checkout makes no local ones for a pull request: with
// fetch-depth: 0 there is origin's, otherwise it is fetched. Where that can't be done, the step says what to set.
func TestActionFindsBaseRef(t *testing.T) {
	a, _ := readAction(t)
	for name, tc := range map[string]struct {
		fetch string
		// after runs in the clone; gone says that origin can't be reached.
		after string
		gone  bool
		says  string
	}{
		"fetch-depth: 0":                   {fetch: "origin '+refs/heads/*:refs/remotes/origin/*' +refs/pull/17/merge:refs/remotes/pull/17/merge"},
		"fetch-depth: 2":                   {fetch: "--depth=2 origin +refs/pull/17/merge:refs/remotes/pull/17/merge"},
		"fetch-depth: 0 and no permission": {fetch: "origin '+refs/heads/*:refs/remotes/origin/*' +refs/pull/17/merge:refs/remotes/pull/17/merge", after: "git remote set-url origin file:///nowhere"},
		"an earlier job's branches": {
			fetch: "origin '+refs/heads/*:refs/remotes/origin/*' +refs/pull/17/merge:refs/remotes/pull/17/merge",
			after: "git update-ref refs/remotes/origin/main HEAD^1^ && git update-ref refs/heads/main HEAD^1^",
		},
		"fetch-depth: 2 and no permission": {
			fetch: "--depth=2 origin +refs/pull/17/merge:refs/remotes/pull/17/merge", after: "git remote set-url origin file:///nowhere", gone: true, says: "::error::main and HEAD have no common commit in this clone: set fetch-depth: 0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			temp, origin := t.TempDir(), mergedPullRequest(t, `replicas: 3\n`)
			shell := func(script string) string {
				t.Helper()
				command := exec.Command("bash", "-ec", script)
				command.Dir, command.Env = temp, append(os.Environ(), "ORIGIN="+origin)
				out, err := command.CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				return strings.TrimSpace(string(out))
			}
			shell(`cd "$ORIGIN" && git update-ref refs/pull/17/merge HEAD && git reset -q --hard HEAD^1`)
			shell(`git init -q clone && cd clone && git remote add origin "file://$ORIGIN" && git fetch -q --no-tags ` + tc.fetch + ` && git checkout -q refs/remotes/pull/17/merge`)
			shell("cd clone; " + tc.after)
			printer(t, filepath.Join(temp, "program"), "")
			r := &runner{t: t, dir: filepath.Join(temp, "clone"), known: map[string]string{}, env: []string{
				"RUNNER_TEMP=" + temp, "GITHUB_STEP_SUMMARY=" + filepath.Join(temp, "summary"), "GITHUB_REF=refs/pull/17/merge", "HOME=" + temp,
			}}
			_, succeeded := r.run(a, map[string]string{"binary": filepath.Join(temp, "program"), "name": "web", "chart": "chart", "comment": "never", "base-ref": "main"})
			want := shell(`git -C "$ORIGIN" rev-parse main`)
			if got := r.known["steps.base.outputs.commit"]; succeeded == tc.gone || !tc.gone && got != want || !strings.Contains(r.log.String(), tc.says) {
				t.Errorf("the base is %q, want %q\n%s", got, want, r.log.String())
			}
		})
	}
}

// A merge request that adds a chart, also to a folder that the base has, or a values file, is compared with nothing.
func TestTheGitLabComponentPlansNewCharts(t *testing.T) {
	for _, c := range []struct{ chart, values, want string }{
		{"chart", "prod.yaml", `-f prod\.yaml --against \S+/base/chart --against-values \S+/base/prod\.yaml --offline`},
		{"chart", "new.yaml", `-f new\.yaml --against \S+/base/chart --against-values /dev/null --offline`},
		{"chart", "prod.yaml,new.yaml", `-f prod\.yaml -f new\.yaml --against \S+/base/chart --against-values \S+/base/prod\.yaml --against-values /dev/null --offline`},
		{"chart", "prod.yaml,\n  more files.yaml\n", `-f prod\.yaml -f more files\.yaml --against \S+/base/chart --against-values`},
		{"added", "prod.yaml", `-f prod\.yaml --against /dev/null --offline`},
		{"chart/templates", "prod.yaml", `-f prod\.yaml --against /dev/null --offline`},
	} {
		temp := t.TempDir()
		printer(t, filepath.Join(temp, "kubectl-release"), "")
		out := runComponent(t, mergedPullRequest(t, `replicas: 3\n`), temp, "NAME=web", "CHART="+c.chart, "VALUES="+c.values)
		if !regexp.MustCompile(c.want).MatchString(out) {
			t.Errorf("%s is not in\n%s", c.want, out)
		}
	}
}

// Two jobs of the component have a comment each if they have a marker each.
func TestTheGitLabComponentMarksItsComment(t *testing.T) {
	for variable, want := range map[string]string{"MARKER=": `--offline --detailed-exitcode`, "MARKER=eu west": `--offline --marker eu west --detailed-exitcode`} {
		temp := t.TempDir()
		printer(t, filepath.Join(temp, "kubectl-release"), "")
		out := runComponent(t, mergedPullRequest(t, `replicas: 3\n`), temp, "NAME=web", "CHART=chart", "VALUES=", variable)
		if !regexp.MustCompile(want).MatchString(out) || strings.Contains(out, "--marker") != strings.Contains(want, "--marker") {
			t.Errorf("%s: %s is not in\n%s", variable, want, out)
		}
	}
}

// Charts are fetched for releases that the repository's own branches declare. Files of a fork don't choose what a runner
// fetches.
func TestFilesOfForksFetchNothing(t *testing.T) {
	a, _ := readAction(t)
	for from, want := range map[string]string{
		"shop/charts pull_request": "--no-cluster", "mallory/charts pull_request": "--offline", " pull_request": "--offline", " merge_group": "--no-cluster",
	} {
		temp := t.TempDir()
		printer(t, filepath.Join(temp, "program"), "")
		head, event, _ := strings.Cut(from, " ")
		r := &runner{t: t, dir: mergedPullRequest(t, `replicas: 3\n`), known: map[string]string{
			"github.event.pull_request.head.repo.full_name": head, "github.event_name": event, "github.repository": "shop/charts",
		}, env: []string{
			"RUNNER_TEMP=" + temp, "GITHUB_STEP_SUMMARY=" + filepath.Join(temp, "summary"), "GITHUB_REF=refs/pull/17/merge", "HOME=" + temp,
		}}
		_, succeeded := r.run(a, map[string]string{"binary": filepath.Join(temp, "program"), "releases": "releases.yaml", "comment": "never"})
		if log := r.log.String(); !succeeded || !regexp.MustCompile(`plan many releases\.yaml .*`+want).MatchString(log) || strings.Contains(log, "--offline") != (want == "--offline") {
			t.Errorf("from %q: %s is not in\n%s", from, want, log)
		}
	}
	for from, want := range map[string]string{"5": "--no-cluster", "6": "--offline", "": "--offline"} {
		temp := t.TempDir()
		printer(t, filepath.Join(temp, "kubectl-release"), "")
		out := runComponent(t, mergedPullRequest(t, `replicas: 3\n`), temp, "RELEASES=releases.yaml", "ENVIRONMENT=", "CI_MERGE_REQUEST_PROJECT_ID=5", "CI_MERGE_REQUEST_SOURCE_PROJECT_ID="+from)
		if !regexp.MustCompile(`plan many releases\.yaml .*`+want).MatchString(out) || strings.Contains(out, "--offline") != (want == "--offline") {
			t.Errorf("from project %q: %s is not in\n%s", from, want, out)
		}
	}
}

// Without a version the action builds its own source.
func TestTheActionBuildsItself(t *testing.T) {
	a, _ := readAction(t)
	temp := t.TempDir()
	printer(t, filepath.Join(temp, "kubectl-release"), "")
	printer(t, filepath.Join(temp, "go"), "")
	r := &runner{t: t, dir: mergedPullRequest(t, `replicas: 3\n`), known: map[string]string{}, env: []string{
		"RUNNER_TEMP=" + temp, "GITHUB_ACTION_PATH=/the/action", "GITHUB_STEP_SUMMARY=" + filepath.Join(temp, "summary"), "GITHUB_REF=refs/pull/17/merge", "HOME=" + temp, "PATH=" + temp + ":" + os.Getenv("PATH"),
	}}
	_, succeeded := r.run(a, map[string]string{"name": "web", "chart": "chart", "comment": "never"})
	if log := strings.ReplaceAll(r.log.String(), temp, "RUN"); !succeeded || !strings.Contains(log, "build -C /the/action -buildvcs=false -trimpath -ldflags -s -w -o RUN/kubectl-release .\n") || !strings.Contains(log, "plan web chart") {
		t.Errorf("succeeded %v\n%s", succeeded, log)
	}
}

// There are programs for two architectures, and no other one is taken for one of them.
func TestTheActionInstallsWhatThereIs(t *testing.T) {
	a, _ := readAction(t)
	for machine, want := range map[string]string{
		"x86_64": "has no sum of kubectl-release_1.2.3_linux_amd64.tar.gz", "aarch64": "has no sum of kubectl-release_1.2.3_linux_arm64.tar.gz",
		"arm64": "has no sum of kubectl-release_1.2.3_linux_arm64.tar.gz", "riscv64": "::error::there is no kubectl-release for linux on riscv64",
	} {
		temp := t.TempDir()
		if err := os.WriteFile(filepath.Join(temp, "uname"), []byte("#!/bin/sh\nif [ \"$1\" = -m ]; then echo "+machine+"; else echo Linux; fi\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(temp, "packaging", "action"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(temp, "packaging", "action", "checksums.txt"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		r := &runner{t: t, dir: temp, known: map[string]string{}, env: []string{"RUNNER_TEMP=" + temp, "GITHUB_ACTION_PATH=" + temp, "PATH=" + temp + ":" + os.Getenv("PATH")}}
		if _, succeeded := r.run(a, map[string]string{"version": "1.2.3", "comment": "never"}); succeeded || !strings.Contains(r.log.String(), want) {
			t.Errorf("%s: %s is not in\n%s", machine, want, r.log.String())
		}
	}
}

// The chart of the base is there also if it is in a submodule, for the action and the component.
func TestTheBaseHasSubmodules(t *testing.T) {
	for _, forge := range []string{"github", "gitlab"} {
		temp, _ := planSubmodule(t, forge, "", `echo '# more' >> chart/values.yaml && git -C chart commit -q -a -m two && git commit -q -a -m bump`)
		found, err := filepath.Glob(filepath.Join(temp, "*", "base", "chart", "values.yaml"))
		more, _ := filepath.Glob(filepath.Join(temp, "base", "chart", "values.yaml"))
		if found = append(found, more...); err != nil || len(found) != 1 {
			t.Fatalf("%s: %v, %v", forge, found, err)
		}
		if text, err := os.ReadFile(found[0]); err != nil || strings.Contains(string(text), "# more") {
			t.Errorf("%s: %v\n%s", forge, err, text)
		}
	}
}

// A submodule that git can't check out, such as for a filter without credentials, or whose commit the clone lacks, is said
// to be left out of the base; the plan of one release is made all the same, and that of several reads no such folder.
func TestSubmodulesThatTheBaseCannotHave(t *testing.T) {
	for name, change := range map[string]string{
		"filter": `git commit -q --allow-empty -m two && echo '* filter=large' > .git/modules/chart/info/attributes
git -C chart config filter.large.required true && git -C chart config filter.large.smudge false`,
		"commit": `git commit -q --allow-empty -m two && git commit -q --allow-empty -m three && rm -rf chart .git/modules/chart && git clone -q ../shop chart && git -C chart checkout -q --orphan other && git -C chart commit -q -m other &&
git -C chart update-ref -d refs/heads/main && git -C chart remote remove origin && git -C chart reflog expire --expire=now --all && git -C chart gc -q --prune=now`,
	} {
		for forge, warning := range map[string]string{"github": "\n::warning::submodule chart: ", "gitlab": "\nsubmodule chart: "} {
			const says = "of the base can't be checked out; a chart in it is compared with nothing\n"
			_, log := planSubmodule(t, forge, "", change)
			if !strings.Contains(log, warning) || !strings.Contains(log, says) || !strings.Contains(log, "--against /dev/null") {
				t.Errorf("%s, %s:\n%s", forge, name, log)
			}
			temp, log := planSubmodule(t, forge, "releases.yaml", change)
			if found, err := filepath.Glob(filepath.Join(temp, "base*")); len(found) > 0 || err != nil || strings.Contains(log, says) || !strings.Contains(log, "many releases.yaml") {
				t.Errorf("%s, %s, of several releases: %q, %v\n%s", forge, name, found, err, log)
			}
		}
	}
}

// A change that puts a bare repository in the place of a submodule has none of its hooks run.
func TestTheBaseRunsNoHooksOfAChange(t *testing.T) {
	for _, forge := range []string{"github", "gitlab"} {
		temp, _ := planSubmodule(t, forge, "", `git rm -rqf chart && git clone -q --bare ../shop chart && touch chart/refs/kept
git -C chart config core.hooksPath "$PWD/hooks" && mkdir hooks && printf '#!/bin/sh\ntouch "$HOME/ran"\n' > hooks/post-checkout && chmod +x hooks/post-checkout
git add . && git commit -q -m bare`)
		if _, err := os.Stat(filepath.Join(temp, "ran")); err == nil {
			t.Errorf("%s runs a hook of the change", forge)
		}
	}
}

// planSubmodule plans what change does to a repository whose chart is a submodule, with the action or the component.
// It returns the home folder, which has the base, too, and the log.
func planSubmodule(t *testing.T, forge, releases, change string) (temp, log string) {
	t.Helper()
	temp = t.TempDir()
	dir := mergedPullRequest(t, `replicas: 3\n`)
	command := exec.Command("bash", "-ec", `cp -R chart ../shop && git -C ../shop init -q -b main && git -C ../shop add . && git -C ../shop commit -q -m one
git rm -rq chart && git -c protocol.file.allow=always submodule --quiet add "$PWD/../shop" chart && git commit -q -m submodule
`+change)
	command.Dir = dir
	command.Env = append(os.Environ(), "HOME="+temp, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	printer(t, filepath.Join(temp, "kubectl-release"), "")
	if forge == "gitlab" {
		return temp, runComponent(t, dir, temp, "NAME=web", "CHART=chart", "VALUES=", "RELEASES="+releases, "HOME="+temp)
	}
	a, _ := readAction(t)
	r := &runner{t: t, dir: dir, known: map[string]string{}, env: []string{"RUNNER_TEMP=" + temp, "GITHUB_STEP_SUMMARY=" + filepath.Join(temp, "summary"), "HOME=" + temp}}
	r.run(a, map[string]string{"binary": filepath.Join(temp, "kubectl-release"), "releases": releases, "name": "web", "chart": "chart", "comment": "never"})
	return temp, r.log.String()
}

// runComponent runs the GitLab component's script, with the program in temp, for what is checked out in dir.
func runComponent(t *testing.T, dir, temp string, variables ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "templates", "plan.yml"))
	if err != nil {
		t.Fatal(err)
	}
	_, job, _ := strings.Cut(string(text), "\n---\n")
	var parsed map[string]struct {
		Script []string `json:"script"`
	}
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(job, "$[[", "x[[")), &parsed); err != nil {
		t.Fatal(err)
	}
	for _, j := range parsed {
		command := exec.Command("sh", "-ec", strings.Join(j.Script, "\n"))
		command.Dir = dir
		command.Env = append(append(os.Environ(), "PATH="+temp+":"+os.Getenv("PATH"), "TMPDIR="+temp, "CI_MERGE_REQUEST_DIFF_BASE_SHA=HEAD^1", "GITLAB_TOKEN=", "RELEASES=", "NAMESPACE=shop"), variables...)
		out, err := command.CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return string(out)
	}
	return ""
}

// What a plan against the cluster is given: it saves an encrypted, signed file, or set, for the job
// that applies it.
func TestActionSavesPlans(t *testing.T) {
	a, _ := readAction(t)
	saving := map[string]string{"against": "cluster", "encrypt-to": "age1recipient", "sign-key-file": "ci", "comment": "never"}
	for want, with := range map[string]map[string]string{
		"plan web chart [^\n]*--encrypt-to age1recipient --sign ci --untrusted -n shop -f prod.yaml --out RUN/plan/saved/plan.age --commit c0ffee":     {"name": "web", "chart": "chart", "namespace": "shop", "values": "prod.yaml"},
		"plan many a.yaml b.yaml [^\n]*--encrypt-to age1recipient --sign ci -e prod --changed-since [0-9a-f]{40} --out RUN/plan/saved --commit c0ffee": {"releases": "a.yaml,b.yaml", "environment": "prod"},
		"plan many a.yaml c d.yaml [^\n]*--sign ci --changed-since":                                                                                    {"releases": "a.yaml,\n  c d.yaml\n"},
		"plan web chart [^\n]*-f prod.yaml -f more.yaml --out RUN/plan/saved/plan.age":                                                                 {"name": "web", "chart": "chart", "values": "prod.yaml\nmore.yaml, \n"},
		"plan many a.yaml [^\n]*--sign ci --all --out RUN/plan/saved --commit c0ffee":                                                                  {"releases": "a.yaml", "all": "true"},
	} {
		temp := t.TempDir()
		printer(t, filepath.Join(temp, "program"), "")
		r := &runner{t: t, dir: mergedPullRequest(t, `replicas: 3\n`), known: map[string]string{"github.event.pull_request.head.sha": "c0ffee"}, env: []string{
			"RUNNER_TEMP=" + temp, "GITHUB_STEP_SUMMARY=" + filepath.Join(temp, "summary"), "GITHUB_REF=refs/pull/17/merge", "HOME=" + temp,
		}}
		given := map[string]string{"binary": filepath.Join(temp, "program")}
		maps.Copy(given, saving)
		maps.Copy(given, with)
		_, succeeded := r.run(a, given)
		if log := strings.ReplaceAll(r.log.String(), temp, "RUN"); !succeeded || !regexp.MustCompile(want).MatchString(log) || strings.Contains(log, "--offline") {
			t.Errorf("%s is not in\n%s", want, log)
		}
	}
}

// Check 23: no script of the action contains an expression through which an event could write into
// the script. Check 24: every action that is used, there or on the page, is pinned to a commit.
func TestActionsAreSafe(t *testing.T) {
	a, text := readAction(t)
	for _, step := range a.Runs.Steps {
		if strings.Contains(step.Run, "${{") {
			t.Errorf("%s: an expression in its script", step.Name)
		}
		if out, err := exec.Command("bash", "-n", "-c", step.Run).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", step.Name, err, out)
		}
		// macOS has bash 3.2, to which an empty array is not set, and set -u makes that an error.
		for _, m := range regexp.MustCompile(`(?m)^.*[^+]"\$\{(files|more)\[@\]\}".*$`).FindAllString(step.Run, -1) {
			if !strings.Contains(m, "what+=") {
				t.Errorf("%s: fails in bash 3.2 if the array is empty: %s", step.Name, m)
			}
		}
	}
	all := text
	root := filepath.Join("..", "..")
	workflows, err := filepath.Glob(filepath.Join(root, "docs", "ci", "*.yaml"))
	if err != nil || len(workflows) < 2 {
		t.Fatal(workflows, err)
	}
	for _, name := range append(workflows, filepath.Join(root, "docs", "pull-requests.md"), filepath.Join(root, "docs", "flux.md")) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all += string(data)
	}
	found := regexp.MustCompile(`uses: (\S+)(.*)`).FindAllStringSubmatch(all, -1)
	for _, m := range found {
		if m[1] == "./" || m[1] == "kubectl-release/kubectl-release@COMMIT" {
			continue
		}
		if !regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40}$`).MatchString(m[1]) || !strings.HasPrefix(m[2], " # v") {
			t.Errorf("%s is not pinned to a commit with its version beside it", m[1])
		}
	}
	if len(found) < 3 {
		t.Errorf("only %d actions are used", len(found))
	}
}

// The GitLab component has a header that declares every input it uses, and no keyword that is up to
// whoever includes it.
func TestGitLabComponent(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "templates", "plan.yml"))
	if err != nil {
		t.Fatal(err)
	}
	header, body, found := strings.Cut(string(data), "\n---\n")
	var spec struct {
		Spec struct {
			Inputs map[string]any `json:"inputs"`
		} `json:"spec"`
	}
	var jobs map[string]any
	if err := yaml.Unmarshal([]byte(header), &spec); err != nil || !found {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(body), &jobs); err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`\$\[\[ inputs\.(\w+) \]\]`).FindAllStringSubmatch(body, -1) {
		if spec.Spec.Inputs[m[1]] == nil {
			t.Errorf("input %s is not declared", m[1])
		}
	}
	for _, keyword := range []string{"stages", "variables", "default", "workflow"} {
		if jobs[keyword] != nil {
			t.Errorf("%s belongs to who includes it", keyword)
		}
	}
	if len(jobs) != 1 {
		t.Errorf("%d jobs", len(jobs))
	}
}

// The component's script is run by sh, as by GitLab's runner, for one release and for those that a
// change touches; it comments if there is a token, and on a change that touches nothing only if it
// has commented before. Changes are no failure.
func TestGitLabComponentRuns(t *testing.T) {
	program, err := exec.LookPath("kubectl-release")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join("..", "..", "templates", "plan.yml"))
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(data), "\n---\n")
	for _, tc := range []struct {
		name, values  string
		variables     []string
		code          int
		says, comment string
		requests      int
	}{
		{name: "releases", values: `replicas: 3\n`, variables: []string{"RELEASES=releases.yaml"}, says: "Plan of 2 releases: 1 changes", comment: "### Plan of 2 releases: 1 changes", requests: 2},
		{name: "one cluster", values: `replicas: 3\n`, variables: []string{"RELEASES=releases.yaml", "ENVIRONMENT=eu"}, says: "nothing is touched", requests: 1},
		{name: "one release", values: `replicas: 3\n`, variables: []string{"NAME=web", "CHART=chart", "NAMESPACE=shop", "VALUES=prod.yaml"}, says: "spec.replicas  2 → 3", comment: "replicas 2 → 3", requests: 2},
		{name: "one release that can't be planned", values: `replicas: [\n`, variables: []string{"NAME=web", "CHART=chart", "NAMESPACE=shop", "VALUES=prod.yaml"}, code: 1, says: "parse prod.yaml", comment: "### Release shop/web: can't be planned", requests: 2},
		{name: "no token", values: `replicas: 3\n`, variables: []string{"RELEASES=releases.yaml", "GITLAB_TOKEN="}, says: "Plan of 2 releases: 1 changes"},
		{name: "broken", values: `replicas: [\n`, variables: []string{"RELEASES=releases.yaml"}, code: 1, says: "can't be planned", comment: "can't be planned", requests: 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var jobs map[string]struct {
				Variables map[string]string `json:"variables"`
				Script    []string          `json:"script"`
			}
			if err := yaml.Unmarshal([]byte(regexp.MustCompile(`\$\[\[ inputs\.\w+ \]\]`).ReplaceAllString(body, "filled")), &jobs); err != nil {
				t.Fatal(err)
			}
			url, comment, requests := recordingGitHub(t)
			dir := mergedPullRequest(t, tc.values)
			base, err := exec.Command("git", "-C", dir, "rev-parse", "HEAD^1").Output()
			if err != nil {
				t.Fatal(err)
			}
			command := exec.Command("sh", "-e", "-c", strings.Join(jobs["filled"].Script, "\n"))
			command.Dir, command.Env = dir, append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"), "KUBECONFIG=/nowhere", "HOME="+t.TempDir(),
				"GITLAB_TOKEN=job-token", "CI_API_V4_URL="+url, "CI_PROJECT_ID=5", "CI_MERGE_REQUEST_IID=17", "CI_COMMIT_SHA=c0ffee",
				"CI_MERGE_REQUEST_DIFF_BASE_SHA="+strings.TrimSpace(string(base)))
			for name := range jobs["filled"].Variables {
				command.Env = append(command.Env, name+"=")
			}
			command.Env = append(command.Env, tc.variables...)
			said, err := command.CombinedOutput()
			if command.ProcessState.ExitCode() != tc.code || !strings.Contains(string(said), tc.says) || !strings.Contains(*comment, tc.comment) || len(*requests) != tc.requests {
				t.Errorf("%v, requests %q, comment %q\n%s", err, *requests, *comment, said)
			}
			for _, name := range []string{"codequality.json", "junit.xml", "plan.md", "plan-rest.md", "plan.env"} {
				if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// Check 45: the page names every input and output of the action, and shows the workflow that
// actionlint checks.
func TestEveryFlagOfTheActionIsDocumented(t *testing.T) {
	a, _ := readAction(t)
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "pull-requests.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range a.Inputs {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/pull-requests.md says nothing of the input %s", name)
		}
	}
	for name := range a.Outputs {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/pull-requests.md says nothing of the output %s", name)
		}
	}
	for _, name := range []string{"github.yaml", "github-forks.yaml"} {
		workflow, err := os.ReadFile(filepath.Join("..", "..", "docs", "ci", name))
		if err != nil {
			t.Fatal(err)
		}
		if shown := strings.ReplaceAll(string(workflow), "uses: ./", "uses: kubectl-release/kubectl-release@COMMIT"); !strings.Contains(string(page), shown) {
			t.Errorf("docs/pull-requests.md does not show docs/ci/%s:\n%s", name, shown)
		}
	}
}

// The workflow that comments on pull requests from forks: which one it is, GitHub says, whatever the
// artifact holds; where its head has changed since, nothing is written.
func TestTheWorkflowForForksComments(t *testing.T) {
	program, err := exec.LookPath("kubectl-release")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "ci", "github-forks.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct {
				Run string `json:"run"`
			} `json:"steps"`
		} `json:"jobs"`
	}
	if err := yaml.Unmarshal(data, &workflow); err != nil {
		t.Fatal(err)
	}
	script := workflow.Jobs["comment"].Steps[0].Run
	if strings.Contains(script, "${{") {
		t.Error("an expression in the script")
	}
	for name, tc := range map[string]struct {
		answer, artifact, there, says string
		requests                      []string
	}{
		"a fork": {
			answer: "17", artifact: "<!-- kubectl-release plan of shop/web -->\n### Release shop/web\n", says: "### Release shop/web",
			requests: []string{"GET /repos/shop/charts/issues/17/comments", "POST /repos/shop/charts/issues/17/comments"},
		},
		"a comment of another job": {
			answer: "17", artifact: "<!-- another job's -->\n<!-- effect=aaa to-change=1 -->\nApproved by all\n", says: "Approved by all",
			there:    "<!-- another job's -->\n<!-- effect=aaa to-change=1 -->\n",
			requests: []string{"GET /repos/shop/charts/issues/17/comments", "POST /repos/shop/charts/issues/17/comments"},
		},
		"an effect that was approved": {
			answer: "17", artifact: "<!-- a plan -->\n<!-- effect=aaa to-change=1 -->\nnothing to see\n", says: "nothing to see",
			there: "<!-- untrusted: a plan -->\n<!-- effect=aaa to-change=1 -->\n",
			requests: []string{
				"GET /repos/shop/charts/issues/17/comments", "GET /user", "POST /graphql", "PATCH /repos/shop/charts/issues/comments/4711",
			},
		},
		"a marker that folds": {answer: "17", artifact: "<!-- x --><details><summary>plan</summary><!-- y -->\n"},
		"pushed again since":  {artifact: "<!-- kubectl-release plan of shop/web -->\n"},
		"no plan":             {answer: "17", artifact: "hello\n"},
	} {
		url, comment, requests := recordingGitHub(t)
		*comment = tc.there
		temp := t.TempDir()
		for file, text := range map[string]string{
			"gh": `case "$1" in
api) case "$*" in *head=mallory:change*env.HEAD*) printf %s "$ANSWER" ;; esac ;;
run) mkdir "$RUNNER_TEMP/plan" && printf %s "$ARTIFACT" > "$RUNNER_TEMP/plan/plan.md" ;;
esac`,
			"go": `case "$1" in env) echo "$RUNNER_TEMP" ;; esac`,
		} {
			if err := os.WriteFile(filepath.Join(temp, file), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Mkdir(filepath.Join(temp, "bin"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(program, filepath.Join(temp, "bin", "kubectl-release")); err != nil {
			t.Fatal(err)
		}
		command := exec.Command("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script)
		command.Env = append(os.Environ(), "PATH="+temp+":"+os.Getenv("PATH"), "RUNNER_TEMP="+temp, "GITHUB_REPOSITORY=shop/charts", "GITHUB_API_URL="+url,
			"GITHUB_REF=refs/heads/main", "GITHUB_EVENT_PATH=", "GITHUB_TOKEN=", "GH_TOKEN=job-token", "OWNER=mallory", "BRANCH=change", "HEAD=c0ffee", "RUN=9",
			"ANSWER="+tc.answer, "ARTIFACT="+tc.artifact)
		out, err := command.CombinedOutput()
		if fails := tc.answer != "" && tc.says == ""; (err != nil) != fails || !slices.Equal(*requests, tc.requests) || !belowWarning(*comment, tc.says) {
			t.Errorf("%s: %v, requests %q, comment %q\n%s", name, err, *requests, *comment, out)
		}
	}
}

// belowWarning reports whether a comment says something only below the warning about forks, which nothing folds.
func belowWarning(comment, something string) bool {
	above, below, _ := strings.Cut(comment, "from a job of the fork")
	return !strings.Contains(above, "<details>") && strings.Contains(below, something) && (something == "" || !strings.Contains(above, something))
}
