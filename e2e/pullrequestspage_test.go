//go:build cluster

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
)

// TestPullRequestsPage runs what docs/pull-requests.md shows: its commands in
// their order, the first ones without a cluster. Its workflow is run by
// TestActionRunsEveryStep of internal/command.
func TestPullRequestsPage(t *testing.T) {
	text, err := os.ReadFile(inTree("docs", "pull-requests.md"))
	if err != nil {
		t.Fatal(err)
	}
	offline, online, found := strings.Cut(string(text), "\n## With a cluster\n")
	if !found {
		t.Fatal("the page has no part on clusters any more")
	}
	if len(shown(offline)) < 7 || len(shown(online)) < 4 {
		t.Fatalf("the page shows %d and %d commands, which can't be all", len(shown(offline)), len(shown(online)))
	}
	tools := pluginFolder(t)
	jq, err := cluster.Binaries.Tool(t.Context(), "gojq", os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(jq, filepath.Join(tools, "jq")); err != nil {
		t.Fatal(err)
	}
	pr := pullRequest(t)
	in := func(environment, line string) string {
		result := cluster.Run(t, "bash", "", "-c", "export PATH="+tools+":$PATH "+environment+"; cd "+pr+"; "+line)
		if result.ExitCode != 0 {
			t.Fatalf("$ %s\nexit code %d\n%s%s", line, result.ExitCode, result.Stdout, result.Stderr)
		}
		return result.Stdout
	}

	const nobody = "KUBECONFIG=/nowhere/kubeconfig"
	for _, line := range shown(offline) {
		in(nobody, line)
	}
	for _, want := range []string{"<!-- kubectl-release plan of shop/web -->", "label helm.sh/chart shop-1.4.2 → 1.5.0", "ConfigMap/web-motd"} {
		if comment := content(t, filepath.Join(pr, "plan.md")); !strings.Contains(comment, want) {
			t.Errorf("the comment lacks %q:\n%s", want, comment)
		}
	}

	namespace := "HELM_NAMESPACE=" + cluster.Namespace(t)
	in(namespace, "kubectl release install web ../base/chart -f ../base/prod.yaml")
	for _, line := range shown(online) {
		in(namespace, line)
	}
}

// pullRequest is a clone that has a chart and values, both changed since
// origin/main, and keys.
func pullRequest(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	script := `
set -e
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com
git init -q -b main upstream && cd upstream
cp -R "$CHART" chart && echo 'replicas: 2' > prod.yaml
git add . && git commit -q -m base && cd ..
git clone -q upstream pr && cd pr
sed -i 's/^version: .*/version: 1.5.0/' chart/Chart.yaml
printf 'replicas: 3\nmotd: hello\n' > prod.yaml
git commit -q -a -m change
`
	command := exec.Command("bash", "-c", script)
	command.Dir = dir
	command.Env = append(os.Environ(), "CHART="+inTree("testdata", "charts", "shop"), "HOME="+dir)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	pr := filepath.Join(dir, "pr")
	for name, key := range map[string]string{"key.txt": identity.String() + "\n", "recipients.txt": identity.Recipient().String() + "\n"} {
		if err := os.WriteFile(filepath.Join(pr, name), []byte(key), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return pr
}

func content(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
