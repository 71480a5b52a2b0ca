//go:build cluster

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// gallerySetFiles are the files of a repository that declares releases, before and after a pull request.
var gallerySetFiles = [2]map[string]string{
	{
		"releases.yaml": `version: 1
defaults: {namespace: shop}
clusters: {eu: {context: prod-eu}, us: {context: prod-us}}
releases:
- {each: [eu, us], name: web, cluster: "${each}", chart: charts/shop, values: [web.yaml]}
- {name: ingress, cluster: eu, chart: charts/ingress-nginx-4.13.5.tgz}
- {name: cache, cluster: eu, chart: charts/redis-18.19.4.tgz, values: [{auth: {enabled: false}}]}
- {name: mail, cluster: us, chart: charts/shop}
`,
		"web.yaml": "replicas: 3\nmotd: hello\n",
	},
	{
		"releases.yaml": `version: 1
defaults: {namespace: shop}
clusters: {eu: {context: prod-eu}, us: {context: prod-us}}
releases:
- {each: [eu, us], name: web, cluster: "${each}", chart: charts/shop, values: [web.yaml]}
- {name: ingress, cluster: eu, chart: charts/ingress-nginx-4.15.1.tgz}
- {name: cache, cluster: eu, chart: charts/redis-23.1.1.tgz, values: [{auth: {enabled: false}}]}
- {name: mail, cluster: us, chart: charts/shop}
`,
		"web.yaml": "replicas: 2\nmotd: ''\n",
	},
}

// gallerySet returns the gallery's section on a set: its plan as text, as a comment, and as the
// check that is sent to a stand-in for GitHub's API.
func gallerySet(t *testing.T) string {
	t.Helper()
	const shown = 60
	dir, program := t.TempDir(), clustertest.Program(t)
	for i, side := range []string{"base", "head"} {
		charts := filepath.Join(dir, side, "charts")
		if err := os.CopyFS(filepath.Join(charts, "shop"), os.DirFS(inTree("testdata", "charts", "shop"))); err != nil {
			t.Fatal(err)
		}
		for _, chart := range []string{"ingress-nginx/4.13.5", "ingress-nginx/4.15.1", "redis/18.19.4", "redis/23.1.1"} {
			archive := content(t, inTree("..", "shared", "versions", filepath.FromSlash(chart)+".tgz"))
			gallerySetFiles[i]["charts/"+strings.Replace(chart, "/", "-", 1)+".tgz"] = archive
		}
		for name, text := range gallerySetFiles[i] {
			if err := os.WriteFile(filepath.Join(dir, side, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	var sent string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent = string(body)
		_, _ = io.WriteString(w, `{"id":1,"html_url":"https://forge.example/1"}`)
	}))
	defer server.Close()
	in := func(code int, line string) string {
		t.Helper()
		environment := "COLUMNS=100 GITHUB_TOKEN=t GITHUB_REPOSITORY=shop/releases GITHUB_REF=refs/pull/7/merge GITHUB_API_URL=" + server.URL
		r := cluster.Run(t, "sh", "", "-c", fmt.Sprintf("cd %q && %s exec %q %s", filepath.Join(dir, "head"), environment, program, line))
		if r.ExitCode != code || r.Stderr != "" {
			t.Fatalf("%s: exit code %d\n%s", line, r.ExitCode, r.Stderr)
		}
		return r.Stdout
	}
	const planned = "plan many releases.yaml --base-dir ../base --offline --deny delete"
	var out strings.Builder
	fmt.Fprintf(&out, "\n## Five releases of a repository\n\nWhat a pull request does to the releases of this file, compared with the folder `base`. In `web.yaml`\nit sets `replicas` from 3 to 2 and `motd` to nothing, the charts have other versions, and deletions\nare denied:\n\n```yaml\n%s```\n", gallerySetFiles[1]["releases.yaml"])
	fmt.Fprintf(&out, "\n```console\n$ kubectl release %s\n%s```\n", planned, firstLines(in(1, planned), shown))
	fmt.Fprintf(&out, "\nThe same as a comment, which is the summary of the job, too. GitHub folds the details.\n\n````markdown\n%s````\n", firstLines(in(1, planned+" -o markdown"), shown))
	in(1, planned+" --report sarif=plan.sarif --report markdown=plan.md")
	in(0, "check plan.sarif --to github --commit c0ffee --text plan.md")
	var check struct {
		Name, Conclusion string
		Output           struct {
			Title, Summary string
			Annotations    []struct {
				Path    string `json:"path"`
				Line    int    `json:"start_line"`
				Level   string `json:"annotation_level"`
				Title   string `json:"title"`
				Message string `json:"message"`
			}
		}
	}
	if err := json.Unmarshal([]byte(sent), &check); err != nil {
		t.Fatalf("%v\n%s", err, sent)
	}
	if text := content(t, filepath.Join(dir, "head", "plan.md")); check.Output.Summary != text {
		t.Errorf("the check's text is not the comment:\n%s", check.Output.Summary)
	}
	fmt.Fprintf(&out, "\nAs a check, `kubectl release check plan.sarif --to github --text plan.md` has the comment as its text, and\na note at each line that makes it so:\n\n```text\n%s: %s\n%s\n", check.Name, check.Conclusion, check.Output.Title)
	var notes strings.Builder
	for _, a := range check.Output.Annotations {
		fmt.Fprintf(&notes, "%s:%d: %s: %s: %s\n", a.Path, a.Line, a.Level, a.Title, a.Message)
	}
	fmt.Fprintf(&out, "%s```\n", firstLines(notes.String(), 20))
	return out.String()
}
