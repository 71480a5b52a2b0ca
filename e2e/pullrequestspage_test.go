//go:build cluster

package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"

	_ "github.com/kubectl-release/kubectl-release/internal/gittest"
)

// TestPullRequestsPage runs what docs/pull-requests.md shows: its commands in
// order, the first ones without a cluster. Its workflow is run by
// TestActionRunsEveryStep of internal/command.
func TestPullRequestsPage(t *testing.T) {
	t.Parallel()
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
	pr := pullRequest(t)
	forge, asked := recordingForge(t)
	nobody := jobIn(t, pr, "KUBECONFIG=/nowhere/kubeconfig GITHUB_TOKEN=t GITHUB_API_URL="+forge+" GITHUB_REPOSITORY=shop/charts GITHUB_REF=refs/pull/7/merge GITHUB_SHA=c0ffee GITLAB_TOKEN=t CI_API_V4_URL="+forge+" CI_PROJECT_ID=5 CI_MERGE_REQUEST_IID=7")
	for _, line := range shown(offline) {
		nobody(0, line)
	}
	for _, want := range []string{"<!-- kubectl-release plan of shop/web -->", "label helm.sh/chart shop-1.4.2 → 1.5.0", "ConfigMap/web-motd"} {
		if comment := content(t, filepath.Join(pr, "plan.md")); !strings.Contains(comment, want) {
			t.Errorf("the comment lacks %q:\n%s", want, comment)
		}
	}
	wanted := []string{
		"GET /repos/shop/charts/issues/7/comments", "POST /repos/shop/charts/issues/7/comments", "GET /projects/5/merge_requests/7/notes", "POST /repos/shop/charts/check-runs",
	}
	if diff := cmp.Diff(wanted, asked()); diff != "" {
		t.Errorf("what forges were asked, -want +got:\n%s", diff)
	}

	name := cluster.Namespace(t)
	_, set, _ := strings.Cut(offline, "```yaml\n")
	set, _, _ = strings.Cut(set, "```")
	if err := os.WriteFile(filepath.Join(pr, "releases.yaml"), []byte(strings.ReplaceAll(set, "namespace: shop", "namespace: "+name)), 0o600); err != nil {
		t.Fatal(err)
	}
	in := jobIn(t, pr, "HELM_NAMESPACE="+name)
	in(0, "kubectl release install web ../base/chart -f ../base/prod.yaml")
	in(0, "kubectl create rolebinding deployer --clusterrole=admin --serviceaccount=shop:deployer -n "+name)
	for _, line := range shown(online) {
		in(0, line)
	}
}

// recordingForge starts a forge that has no comments and accepts everything; asked returns the requests it got.
func recordingForge(t *testing.T) (address string, asked func() []string) {
	t.Helper()
	var mu sync.Mutex
	var requests []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		requests = append(requests, r.Method+" "+r.URL.Path)
		answer := "[]"
		if r.Method != http.MethodGet {
			answer = `{"id":1,"html_url":"https://forge.example/1"}`
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return requests
	}
}

// pullRequest returns a clone with a chart and values, both changed since
// origin/main, and with keys.
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
	command.Env = append(os.Environ(), "CHART="+inTree("testdata", "charts", "shop"))
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
